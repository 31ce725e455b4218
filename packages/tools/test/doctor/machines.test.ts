import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { examine, type Diagnosis } from '../../src/doctor/examine.js'
import { diagnosisJson } from '../../src/doctor/json.js'
import { formatReport } from '../../src/doctor/report.js'
import { readMachine, Root } from '../../src/machine/index.js'
import { readNvidia } from '../../src/nvidia/index.js'
import { machines, type Described } from '../machines/index.js'
import { INSTALLED } from '../../src/command-line/invocation.js'
import { rootOf } from '../machines/read-described.js'

const GOLDEN = join(import.meta.dirname, '../machines/golden/doctor')
const UPDATE = process.env['UPDATE'] === '1'

/** Examines a machine like `gpunvme doctor --root NAME` in its folder. */
async function diagnose(described: Described): Promise<Diagnosis> {
  const root = new Root(await rootOf(described))
  const [machine, nvidia] = [await readMachine(root), await readNvidia(root)]
  return examine({ machine: { ...machine, root: described.name }, nvidia, process: undefined })
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

describe.each(machines.map((machine) => [machine.name, machine] as const))('doctor on %s', (name, described) => {
  test('doctor prints the recorded text, in 80 columns, and the recorded JSON', { timeout: 60_000 }, async () => {
    const diagnosis = await diagnose(described)
    const lines = formatReport(diagnosis, { columns: 80, verbose: false, invocation: INSTALLED })
    // Commands are not folded, so that they can be copied.
    expect(lines.filter((line) => line.length > 80 && !/^ {5}\$ |^Next: /.test(line))).toEqual([])
    expectGolden(`${name}.txt`, `${lines.join('\n')}\n`)
    expectGolden(`${name}.json`, `${JSON.stringify(diagnosisJson(diagnosis, INSTALLED), null, 2)}\n`)
  })
})

test('every recorded file belongs to a described machine', () => {
  const names = machines.map(({ name }) => name)
  expect(readdirSync(GOLDEN).filter((file) => !names.includes(file.replace(/\.(txt|json)$/, '')))).toEqual([])
})
