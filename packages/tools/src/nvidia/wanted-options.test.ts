import { expect, test } from 'vitest'
import { staticBar1 } from './static-bar1.js'
import { planOptions, wantedFor, type Goal } from './wanted-options.js'

// Values of nvrm_registry.h in each release.
test.each([
  ['565.77', { RMForceP2PType: 2, ForceP2P: 0x11 }],
  ['570.211.01', { RMForceP2PType: 2, ForceP2P: 0x11 }],
  ['575.51.02', { RMForceP2PType: 1, RMPcieP2PType: 1, ForceP2P: 0x11 }],
  ['595.45.04', { RMForceP2PType: 1, RMPcieP2PType: 1, ForceP2P: 0x11 }],
])('wantedFor bar1-p2p uses the keys of version %s', (version, registry) => {
  expect(wantedFor('bar1-p2p', version)).toEqual({ options: {}, registry })
})

test.each([
  ['560.35.03', 'none'],
  ['565.57.01', 'p2p-only'],
  ['570.211.01', 'p2p-only'],
  ['575.51.02', 'off'],
  ['575.64.05', 'off'],
  ['580.65.06', 'auto'],
  ['595.99.02', 'auto'],
] as const)('staticBar1 without a key in %s is %s', (version, state) => {
  expect(staticBar1(version, {}).state).toBe(state)
})

test('staticBar1 follows a key if the version supports its value', () => {
  expect(staticBar1('570.211.01', { RMForceStaticBar1: 1 }).state).toBe('on')
  expect(staticBar1('580.142', { RMForceStaticBar1: 0 }).state).toBe('off')
  // Version 575 removed the value 3.
  expect(staticBar1('575.64.05', { RMForceStaticBar1: 3 })).toEqual({
    state: 'off',
    reason: '575.64.05 ignores RMForceStaticBar1=3; the default since 575.51.02',
  })
  expect(staticBar1('of tomorrow', {}).state).toEqual({ unknown: "no rule for the version 'of tomorrow'" })
})

test('planOptions names version and goals, and keeps the keys of other files', () => {
  const theirs = [{ file: '/etc/modprobe.d/nvidia.conf', name: 'NVreg_RegistryDwords', value: 'RmMsgLevel=2' }]
  const { text, given, problems } = planOptions(['peer-mapping', 'static-bar1', 'resizable-bar'], '575.64.05', theirs)
  expect([given, problems]).toEqual([[], []])
  expect(text!.split('\n').filter((line) => !line.startsWith('#'))).toEqual([
    'options nvidia NVreg_EnableResizableBar=1',
    'options nvidia NVreg_RegistryDwords="RmMsgLevel=2;PeerMappingOverride=1;RMForceStaticBar1=2"',
    '',
  ])
  expect(text).toContain('for 575.64.05: peer-mapping, static-bar1, resizable-bar.')
})

test('planOptions does not write what the version enables by default', () => {
  expect(planOptions(['static-bar1'], '580.142', [])).toEqual({ text: undefined, given: ['static-bar1'], problems: [] })
})

test.each<[string, Goal, string, { file: string; name: string; value: string }[], string]>([
  ['a version without the key', 'static-bar1', '560.35.03', [], 'RMForceStaticBar1 requires 565.57.01 or later'],
  ['a version without the option', 'resizable-bar', '525.147.05', [], 'requires 530.30.02 or later'],
  [
    'another file with another value',
    'bar1-p2p',
    '580.142',
    [{ file: '/etc/modprobe.d/p2p.conf', name: 'NVreg_RegistryDwords', value: 'RMForceP2PType=2' }],
    '/etc/modprobe.d/p2p.conf sets RMForceP2PType=2; 1 is required',
  ],
  [
    'another file that disables a default',
    'static-bar1',
    '590.48.01',
    [{ file: '/etc/modprobe.d/nvidia.conf', name: 'NVreg_RegistryDwords', value: 'RMForceStaticBar1=0' }],
    '/etc/modprobe.d/nvidia.conf sets RMForceStaticBar1=0; 590.48.01 enables it by default',
  ],
  [
    'the command line, which takes precedence',
    'peer-mapping',
    '580.142',
    [{ file: '/proc/cmdline', name: 'NVreg_RegistryDwords', value: 'A=1' }],
    'the kernel command line sets nvidia.NVreg_RegistryDwords',
  ],
])('planOptions reports %s as a problem, and writes nothing', (_, goal, version, configured, problem) => {
  const { text, problems } = planOptions([goal], version, configured)
  expect(text).toBeUndefined()
  expect(problems).toEqual([expect.stringContaining(problem)])
})
