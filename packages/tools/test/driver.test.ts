import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { gpunvme, json, scratch } from './gpunvme.js'
import { writeNvidiaState, type NvidiaStateName } from './nvidia/states.js'
import { writeLookupTree } from './nvidia/synthetic-trees.js'

const cwd = scratch()

function machine(state: NvidiaStateName): string {
  writeNvidiaState(join(cwd, state), state)
  return state
}

function filesBelow(path: string): string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
}

const SLOW = 120_000
const FILE = 'etc/modprobe.d/zz-gpunvme-nvidia.conf'
let old = ''
let proprietary = ''

beforeAll(() => {
  old = machine('open-570-on-6.8')
  proprietary = machine('proprietary-580-on-6.17')
})

test('driver prints the state as text and as one JSON object', { timeout: SLOW }, async () => {
  const shown = await gpunvme(['driver', '--root', old], { cwd })
  expect([shown.code, shown.stderr]).toEqual([0, ''])
  expect(shown.stdout).toMatch(/^ {2}running +570\.133\.07, open$/m)
  expect(json(await gpunvme(['driver', '--root', old, '--json'], { cwd }))).toMatchObject({
    schema: 'gpunvme.driver/1',
    root: old,
    running: { version: '570.133.07', flavour: 'open' },
    staticBar1: { state: 'p2p-only' },
    mismatches: [],
  })
})

test('driver plan suggests the open flavour first, with steps for the copied machine', { timeout: SLOW }, async () => {
  const { code, stdout } = await gpunvme(['driver', 'plan', '--root', proprietary], { cwd })
  expect(code).toBe(0)
  const planned = await gpunvme(['driver', 'plan', '--root', proprietary, '--json'], { cwd })
  expect((json(planned) as { advice: { steps: string[] }[] }).advice[0]!.steps).toEqual([
    `on that machine: install the open flavour of the driver, which needs no change (GPUs from Turing on; gpunvme doctor --root ${proprietary} names the package), then restart`,
    'on that machine: or, to keep the proprietary flavour: sudo gpunvme driver apply pfn-lookup --experimental',
  ])
  expect(stdout).toMatch(
    /1\. on that machine: install the open flavour.*\n +2\. on that machine: .*gpunvme driver apply\s+pfn-lookup/s,
  )
})

test('driver apply options requires confirmation, and revert removes them', { timeout: SLOW }, async () => {
  const words = ['options', '--set', 'static-bar1,peer-mapping', '--root', old]
  const planned = await gpunvme(['driver', 'plan', ...words], { cwd })
  expect(planned.code).toBe(0)
  expect(planned.stdout).toContain('+options nvidia NVreg_RegistryDwords="RMForceStaticBar1=2;PeerMappingOverride=1"')
  expect(planned.stdout).toContain('Experimental: no module changed this way has been loaded yet.')
  const refused = await gpunvme(['driver', 'apply', ...words], { cwd })
  expect([refused.code, refused.stdout]).toEqual([2, ''])
  expect(refused.stderr).toMatch(
    /^driver apply is experimental: no module changed this way has been loaded yet\n {2}Try: gpunvme driver apply options .* --dry-run, which only prints the change;? or add\s+--experimental to write it\n$/s,
  )
  const shown = await gpunvme(['driver', 'apply', ...words, '--dry-run'], { cwd })
  expect([shown.code, shown.stdout]).toEqual([0, planned.stdout])
  words.push('--experimental')
  const alone = await gpunvme(['driver', 'apply', ...words], { cwd })
  expect([alone.code, alone.stderr]).toEqual([4, expect.stringContaining('was not confirmed')])
  expect(existsSync(join(cwd, old, FILE))).toBe(false)

  const before = filesBelow(join(cwd, old))
  const applied = await gpunvme(['driver', 'apply', ...words, '--yes', '--json'], { cwd })
  expect(json(applied)).toMatchObject({ schema: 'gpunvme.driver-change/1', outcome: 'applied', files: [FILE] })
  expect(readFileSync(join(cwd, old, FILE), 'utf8')).toContain('RMForceStaticBar1=2')
  const again = await gpunvme(['driver', 'apply', ...words, '--yes'], { cwd })
  expect([again.code, again.stdout]).toEqual([0, `Nothing to do: ${old}/etc/modprobe.d already has this change\n`])
  const state = await gpunvme(['driver', '--root', old], { cwd })
  expect(state.stdout).toContain("RegistryDwords is '' in the running module")
  const experimental = ['--experimental', '--root', old]
  const other = await gpunvme(['driver', 'apply', 'options', '--set', 'resizable-bar', ...experimental, '--yes'], {
    cwd,
  })
  expect([other.code, readFileSync(join(cwd, old, FILE), 'utf8')]).toEqual([0, expect.not.stringContaining('Static')])
  const reverted = await gpunvme(['driver', 'revert', 'options', '--root', old, '--yes', '--json'], { cwd })
  expect(json(reverted)).toMatchObject({ outcome: 'reverted', files: [FILE] })
  const left = filesBelow(join(cwd, old)).filter((name) => !before.includes(name))
  expect(left.sort()).toEqual(['etc', 'etc/modprobe.d', 'var/lib/gpunvme'])
})

test('invalid input of driver has an exit code and a next step', { timeout: SLOW }, async () => {
  writeLookupTree(join(cwd, 'unknown-tree'), 'or-fail')
  const cases: [string[], number, string][] = [
    [['apply'], 2, 'driver apply requires a change'],
    [['--root', 'no-such-root'], 3, 'no such file or directory'],
    [['apply', 'options'], 2, 'driver apply options requires --set'],
    [['apply', 'options', '--set', 'speed'], 2, 'expected goals from peer-mapping'],
    [['plan', 'pfn-lookup', '--source', 'no-such-tree'], 3, 'No source tree in no-such-tree'],
    [['plan', 'pfn-lookup', '--source', 'unknown-tree'], 7, 'its sources are unknown'],
    [['plan', 'pfn-lookup', '--root', proprietary], 7, 'there is no /usr/src/nvidia-580.142/nvidia/os-mlock.c'],
  ]
  const ended = await Promise.all(cases.map(([words]) => gpunvme(['driver', ...words], { cwd })))
  expect(ended.map(({ code }, index) => [cases[index]![0].join(' '), code])).toEqual(
    cases.map(([words, code]) => [words.join(' '), code]),
  )
  ended.forEach(({ stdout, stderr }, index) => {
    expect([stdout, stderr]).toEqual(['', expect.stringContaining(cases[index]![2])])
    expect(stderr).toMatch(/\n {2}Try: \S/)
    expect(stderr).not.toMatch(/\n {4}at /)
  })
})
