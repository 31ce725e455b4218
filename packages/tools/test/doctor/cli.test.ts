import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gpunvme, json, scratch } from '../gpunvme.js'
import { machines, writeMachine } from '../machines/index.js'

const GOLDEN = join(import.meta.dirname, '../machines/golden/doctor')
const cwd = scratch()

function written(name: string): string {
  writeMachine(
    machines.find((each) => each.name === name)!,
    join(cwd, name),
  )
  return name
}

test('doctor --json of a saved machine prints the recorded object', { timeout: 120_000 }, async () => {
  const root = written('drive-free')
  const { code, stdout, stderr } = await gpunvme(['doctor', '--root', root, '--json'], { cwd })
  expect([code, stderr]).toEqual([0, ''])
  const { schema, ...rest } = json({ code, stdout, stderr }) as { schema: string }
  expect(schema).toBe('gpunvme.doctor/1')
  expect(rest).toEqual(JSON.parse(readFileSync(join(GOLDEN, `${root}.json`), 'utf8')))
})

test(
  'doctor ends with exit code 7 if only the simulator is possible, and with 0 if unknown',
  { timeout: 120_000 },
  async () => {
    const wsl = await gpunvme(['doctor', '--root', written('wsl2')], { cwd })
    expect([wsl.code, wsl.stderr]).toEqual([7, ''])
    expect(wsl.stdout).toMatch(/^Next: gpunvme demo$/m)
    expect((await gpunvme(['doctor', '--root', written('empty')], { cwd })).code).toBe(0)
  },
)

test('doctor --save writes a copy that gives the same report', { timeout: 120_000 }, async () => {
  const live = await gpunvme(['doctor', '--save', 'here'], { cwd })
  expect([0, 7]).toContain(live.code)
  expect(live.stderr).toMatch(/Saved \d+ files .* in here.*serial numbers/s)
  const again = await gpunvme(['doctor', '--root', 'here'], { cwd })
  expect(again.code).toBe(live.code)
  const verdict = (text: string) => text.split('\n')[0]
  expect(verdict(again.stdout)).toBe(verdict(live.stdout))
  const second = await gpunvme(['doctor', '--save', 'here'], { cwd })
  expect([second.code, second.stdout]).toEqual([2, ''])
  expect(second.stderr).toMatch(/^here exists\n.*name of a new directory/s)
})

test('doctor accepts addresses and names of drives, and rejects others', { timeout: 120_000 }, async () => {
  const root = written('amd-b450-rtx3090')
  const of = (...words: string[]) => gpunvme(['doctor', ...words, '--root', root], { cwd })
  const one = await of('nvme1')
  expect(one.code).toBe(0)
  expect(one.stdout).not.toContain('0000:01:00.0')
  const used = await of('nvme0')
  expect(used.stdout).toMatch(/^Does not work: .* \(nvme0\) is the system drive; other drives were not checked\.$/m)
  expect(used.stdout).toMatch(/^Next: gpunvme doctor --root/m)
  expect((await of('0000:7f:00.0')).code).toBe(3)
  expect((await of('00:00.0')).stderr).toMatch(/^0000:00:00\.0 is neither a GPU nor an NVMe drive/)
  expect((await of('the-drive')).code).toBe(2)
  expect((await of('--rm')).code).toBe(2)
})
