import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { FileError } from '../command-line/file-error.js'
import { EXAMPLE_PLAN } from '../commands/sim.js'
import { FaultPlanFileError, readFaultPlan } from './serve.js'

const folder = scratch()
const path = join(folder, 'plan.json')

function reading(text: string) {
  writeFileSync(path, text)
  return readFaultPlan(path)
}

test('the example plan of the help is valid, and is in the documentation', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/how-to/vfio-user.md'), 'utf8')
  expect(page).toContain(`\`\`\`json\n${EXAMPLE_PLAN}\n\`\`\``)
  expect(await reading(EXAMPLE_PLAN)).toEqual({
    rules: [
      { match: { opcode: 2, lba: [64, 127] }, action: { kind: 'status', sct: 2, sc: 0x81, dnr: true } },
      { match: { opcode: 1, every: 1000 }, action: { kind: 'delay-completion', delayNs: 50e6 } },
    ],
  })
})

test('an invalid plan is rejected with file name and position', async () => {
  const refusals = [
    ['{ "rules": [', 'fault plan: not valid JSON: '],
    ['{ "rule": [] }', 'fault plan: unknown "rule"; known are rules'],
    ['{ "rules": [{ "match": {}, "action": { "kind": "x" } }] }', 'fault plan, rule 0, action.kind: expected one of'],
  ] as const
  for (const [text, why] of refusals) {
    await expect(reading(text)).rejects.toThrow(FaultPlanFileError)
    await expect(reading(text)).rejects.toThrow(`${path}: ${why}`)
  }
  await expect(readFaultPlan(join(folder, 'none.json'))).rejects.toThrow(FileError)
})

test('an endless plan, such as /dev/zero, is rejected', async () => {
  await expect(readFaultPlan('/dev/zero')).rejects.toMatchObject({
    code: 'ERR_GPUNVME_USAGE',
    message: expect.stringContaining('/dev/zero is longer than 16 MiB') as string,
  })
})
