// After all suites: how many tests passed and failed, and which were skipped and why.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const suites = [root, ...readdirSync(join(root, 'packages')).map((name) => join(root, 'packages', name))]
const reports = suites.map((suite) => {
  const report = join(suite, '.reports', 'tests.json')
  if (!existsSync(report)) throw new Error(`${suite} left no test report: did its tests run?`)
  return JSON.parse(readFileSync(report, 'utf8'))
})

const sum = (of) => reports.reduce((total, report) => total + of(report), 0)
const passed = sum((report) => report.passed)
const failed = sum((report) => report.failed)
const skipped = reports.flatMap((report) => report.skipped)

for (const name of skipped) console.log(`skipped: ${name}`)
console.log(`${passed} passed, ${failed} failed, ${skipped.length} skipped`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0
