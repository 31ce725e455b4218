// After all suites: one line that says how many tests passed, failed and were skipped, and why each was skipped.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const suites = [root, ...readdirSync(join(root, 'packages')).map((name) => join(root, 'packages', name))]
const totals = { passed: 0, failed: 0, skipped: 0 }
const skips = []

for (const suite of suites) {
  const report = join(suite, '.reports', 'vitest.json')
  if (!existsSync(report)) throw new Error(`${suite} left no test report: did its tests run?`)
  for (const file of JSON.parse(readFileSync(report, 'utf8')).testResults) {
    for (const { status, fullName } of file.assertionResults) {
      if (status === 'passed') totals.passed++
      else if (status === 'failed') totals.failed++
      else skips.push(fullName)
    }
  }
}
totals.skipped = skips.length

for (const name of skips) console.log(`skipped: ${name}`)
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`)
process.exitCode = totals.failed > 0 || totals.passed === 0 ? 1 : 0
