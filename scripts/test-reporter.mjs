// A vitest reporter that leaves .reports/tests.json behind, or a file of another name: how many tests passed and failed,
// and why each was skipped.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export default class {
  constructor({ file = 'tests.json' } = {}) {
    this.file = file
  }

  onInit(vitest) {
    this.folder = join(vitest.config.root, '.reports')
  }

  onTestRunEnd(modules) {
    const report = { passed: 0, failed: 0, skipped: [] }
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state, note } = test.result()
        if (state === 'passed' || state === 'failed') report[state]++
        else report.skipped.push(note ? `${test.fullName} (${note})` : test.fullName)
      }
    }
    mkdirSync(this.folder, { recursive: true })
    writeFileSync(join(this.folder, this.file), JSON.stringify(report, null, 2))
  }
}
