// A vitest reporter that writes .reports/NAME.json in the repository's root: the outcome of every test file, the first
// error of each failed test, and the reason of each skip. scripts/test-summary.mjs judges these reports.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const root = join(import.meta.dirname, '..')

export default class {
  onInit({ config }) {
    this.pattern = config.testNamePattern
  }

  onTestRunEnd(modules, unhandled) {
    const folder = join(root, '.reports')
    mkdirSync(folder, { recursive: true })
    const report = {
      files: modules.map((module) => outcomeOf(module, this.pattern)),
      errors: unhandled.map(({ message }) => message),
    }
    writeFileSync(join(folder, `${process.env.GPUNVME_REPORT ?? 'tests'}.json`), JSON.stringify(report, null, 2))
  }
}

/** @param pattern the titles that the run was restricted to; other tests are not reported as skipped */
function outcomeOf(module, pattern) {
  const outcome = { file: relative(root, module.moduleId), seconds: 0, passed: 0, failed: [], skipped: [] }
  outcome.seconds = Math.round(module.diagnostic().duration) / 1000
  for (const error of module.errors()) outcome.failed.push({ name: 'loading the file', error: error.message })
  for (const test of module.children.allTests()) {
    if (pattern !== undefined && !pattern.test(test.fullName.replaceAll(' > ', ' '))) continue
    const { state, note, errors } = test.result()
    if (state === 'passed') outcome.passed++
    else if (state === 'failed') outcome.failed.push({ name: test.fullName, error: errors?.[0]?.message ?? '' })
    else outcome.skipped.push(note ? `${test.fullName} (${note})` : test.fullName)
  }
  for (const suite of module.children.allSuites())
    for (const error of suite.errors()) outcome.failed.push({ name: suite.fullName, error: error.message })
  return outcome
}
