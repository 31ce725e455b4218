import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { examine, type Diagnosis } from '../../src/doctor/report/examine.js'
import { diagnosisJson } from '../../src/doctor/report/json.js'
import { formatReport } from '../../src/doctor/report/report.js'
import { readMachine, Root } from '../../src/machine/index.js'
import { readNvidia } from '../../src/nvidia/index.js'
import { machines, type Described } from '../machines/index.js'
import { fit } from '../../src/terminal/fit.js'
import { INSTALLED } from '../../src/terminal/invocation.js'
import { rootOf } from '../machines/read-described.js'

const GOLDEN = join(import.meta.dirname, '../machines/golden/doctor')
const UPDATE = process.env['UPDATE'] === '1'

/** Examines a machine like `gpunvme doctor --root NAME` in its folder. */
async function diagnose(described: Described): Promise<Diagnosis> {
  const root = new Root(await rootOf(described))
  const [machine, nvidia] = [await readMachine(root), await readNvidia(root)]
  return examine({ machine: { ...machine, root: described.name }, nvidia, process: undefined })
}

/** Folds lines as for a user's terminal. */
function fitted(lines: readonly string[], columns: number): string[] {
  return lines.flatMap((line) => fit(line, columns, INSTALLED.program))
}

/** Compares with the reviewed file; UPDATE=1 writes it. */
function expectGolden(file: string, text: string): void {
  const path = join(GOLDEN, file)
  if (UPDATE) {
    mkdirSync(GOLDEN, { recursive: true })
    writeFileSync(path, text)
  }
  expect(existsSync(path), `${file} is not there: UPDATE=1 writes it`).toBe(true)
  expect(text).toBe(readFileSync(path, 'utf8'))
}

/** Machines whose JSON is recorded too. The texts cover the differences between the others. */
const AS_JSON = ['drive-free', 'intel-not-root', 'laptop-optimus-d3cold']

describe.each(machines.map((machine) => [machine.name, machine] as const))('doctor on %s', (name, described) => {
  test('doctor prints the recorded texts in 80 columns, and fits into 60 and 120', { timeout: 60_000 }, async () => {
    const diagnosis = await diagnose(described)
    const [brief, verbose] = [false, true].map((isVerbose) =>
      fitted(formatReport(diagnosis, { verbose: isVerbose, invocation: INSTALLED }), 80),
    )
    const lines = ['$ gpunvme doctor', ...brief!, '', '$ gpunvme doctor --verbose', ...verbose!]
    // Commands stay whole, so that they can be copied.
    expect(lines.filter((line) => line.length > 80 && !/^ *(?:\$|sudo|gpunvme|Next:) /.test(line))).toEqual([])
    for (const columns of [60, 120]) {
      const lines = fitted(formatReport(diagnosis, { verbose: false, invocation: INSTALLED }), columns)
      expect(lines.filter((line) => line.length > columns && !/^ *(?:\$|sudo|gpunvme|Next:) /.test(line))).toEqual([])
    }
    expectGolden(`${name}.txt`, `${lines.join('\n')}\n`)
    if (AS_JSON.includes(name))
      expectGolden(`${name}.json`, `${JSON.stringify(diagnosisJson(diagnosis, INSTALLED), null, 2)}\n`)
  })
})

test('every recorded file belongs to a described machine', () => {
  const names = machines.map(({ name }) => name)
  const files = [...names.map((name) => `${name}.txt`), ...AS_JSON.map((name) => `${name}.json`)]
  expect(readdirSync(GOLDEN).sort()).toEqual(files.sort())
})
