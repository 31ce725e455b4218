import { expect, test } from 'vitest'
import { facts, GPU, NVIDIA, OPEN_MODULE, RUNNING, withFunction, textOf } from '../../../test/doctor/facts.js'
import { unknown } from '../../machine/known.js'
import type { ModuleContents, NvidiaDriver } from '../../nvidia/index.js'
import { checkNvidia } from './nvidia.js'

const about = (nvidia: Partial<NvidiaDriver>) => checkNvidia(facts({ nvidia }))
const ids = (findings: ReturnType<typeof about>) => findings.map(({ id, severity }) => `${id} ${severity}`)
const onDisk = (changes: Partial<ModuleContents>): Partial<NvidiaDriver> => ({
  onDisk: [{ ...OPEN_MODULE, contents: { ...(OPEN_MODULE.contents as ModuleContents), ...changes } }],
})

test('the open flavour of 590 on Linux 6.17 is ok', () => {
  expect(ids(about({}))).toEqual(['generation ok', 'nvidia ok', 'flavour ok', 'pfn-lookup ok', 'static-bar1 ok'])
})

test('the proprietary flavour is a problem, with the open one of the same branch as remedy', () => {
  const proprietary = { ...RUNNING, flavour: 'proprietary' } as const
  const dead = about({ running: proprietary, ...onDisk({ flavour: 'proprietary', pfnLookup: 'none' }) })
  expect(ids(dead)).toEqual(['generation ok', 'nvidia ok', 'flavour-proprietary problem', 'static-bar1 ok'])
  expect(dead[2]!.closes).toEqual(['tier1-cuda', 'tier2-dma-buf'])
  expect(dead[2]!.steps.map(textOf)).toEqual([
    'sudo apt install nvidia-driver-590-open',
    'sudo reboot',
    expect.stringMatching(
      /^to keep the proprietary module: gpunvme driver plan pfn-lookup, for doorbells only; it requires the driver's sources: .*nvidia-dkms/,
    ),
  ])
  // On a kernel with follow_pfn, such as 6.1.
  const alive = about({ running: proprietary, ...onDisk({ flavour: 'proprietary', pfnLookup: 'follow_pfn' }) })
  expect(ids(alive)).toContain('pfn-lookup ok')
  expect(alive[2]!.closes).toEqual(['tier2-dma-buf'])
})

test('the open flavour is not suggested for a GPU older than Turing', () => {
  const found = checkNvidia(
    facts({
      machine: withFunction(GPU, { deviceId: 0x1b06 }),
      nvidia: { running: { ...RUNNING, flavour: 'proprietary' } },
    }),
  )
  expect(ids(found)).not.toContain('flavour-proprietary problem')
  expect(found.flatMap(({ steps }) => steps.map(textOf)).join()).not.toMatch(/-open/)
})

test('an open module without PFN lookup is attributed to missing Module.symvers', () => {
  const dead = about(onDisk({ pfnLookup: 'none' })).find(({ id }) => id === 'pfn-lookup-dead')!
  expect(dead.cause).toMatch(/Module\.symvers/)
  expect(textOf(dead.steps.at(-1)!)).toBe('gpunvme driver')
})

test('without the file of the running module, versions say whether it can look pages up', () => {
  const others = [onDisk({ version: '580.82.07' }), onDisk({ srcversion: 'B2' }), { onDisk: [] }]
  for (const other of [...others, { onDisk: unknown('needs root: /lib/modules') }])
    expect(ids(about(other))).toContain('pfn-lookup ok')
  const withRunning = (running: Partial<typeof RUNNING>, kernel: string) =>
    about({ onDisk: [], kernel, running: { ...RUNNING, ...running } })
  const old = withRunning({ version: '570.124.06' }, '6.12.3-amd64').find(({ id }) => id === 'pfn-lookup-dead')
  expect(old?.cause).toMatch(/does not use the function/)
  const proprietary = (kernel: string) =>
    withRunning({ flavour: 'proprietary' }, kernel).find(({ id }) => id === 'flavour-proprietary')?.closes
  expect(proprietary('6.17.0-14-generic')).toEqual(['tier1-cuda', 'tier2-dma-buf'])
  expect(proprietary('6.8.0-85-generic')).toEqual(['tier2-dma-buf'])
  const nothing = about({ onDisk: [], running: { ...RUNNING, version: unknown('not in /proc') } })
  expect(ids(nothing)).toContain('pfn-lookup-unknown unknown')
})

test('reports to an unprivileged process that registers require root, unless the driver allows all users', () => {
  const asUser = (registry: Record<string, number>) =>
    ids(
      checkNvidia(
        facts({ process: { isRoot: false }, nvidia: { options: { ...NVIDIA.options, runningRegistry: registry } } }),
      ),
    )
  expect(asUser({})).toContain('registers-root-only note')
  expect(asUser({ PeerMappingOverride: 1 })).not.toContain('registers-root-only note')
  expect(ids(about({}))).not.toContain('registers-root-only note')
})

test('a missing driver is reported as not loaded or not installed', () => {
  expect(ids(about({ running: undefined }))).toEqual(['generation ok', 'nvidia-not-loaded problem'])
  expect(ids(about({ running: undefined, onDisk: [] }))).toEqual(['generation ok', 'nvidia-missing problem'])
  expect(ids(about({ running: unknown('no /proc') }))).toEqual(['generation ok', 'nvidia-unknown unknown'])
})

test('a GPU bound to nouveau or vfio-pci has steps to return it to nvidia', () => {
  const withDriver = (driver: string) => checkNvidia(facts({ machine: withFunction(GPU, { driver }) }))[0]!
  expect(withDriver('nouveau')).toMatchObject({ id: 'gpu-driver', closes: ['tier1'] })
  // The driver is installed, but nouveau was bound first.
  expect(withDriver('nouveau').steps.map(textOf)).toEqual([
    'echo blacklist nouveau | sudo tee /etc/modprobe.d/not-nouveau.conf',
    'sudo update-initramfs -u -k all',
    'sudo reboot',
  ])
  expect(textOf(withDriver('vfio-pci').steps[0]!)).toMatch(/return it/)
})

test('chips older than Turing, Blackwell and unknown chips are reported', () => {
  const withDevice = (deviceId: number) => checkNvidia(facts({ machine: withFunction(GPU, { deviceId }) }))[0]!
  // GTX 1080 Ti, RTX 5090, and a number beyond every known block.
  expect(withDevice(0x1b06)).toMatchObject({ id: 'generation-old', severity: 'problem' })
  expect(withDevice(0x2b85)).toMatchObject({ id: 'blackwell', closes: ['tier1-cuda'] })
  expect(withDevice(0xfff0)).toMatchObject({ id: 'generation-unknown', severity: 'unknown' })
})

test('a version mismatch with libcuda closes tier 1; one with the module on disk does not', () => {
  const parts = (...mismatches: NvidiaDriver['mismatches'][number][]) =>
    about({ mismatches }).find(({ id }) => id === 'nvidia-versions' || id === 'nvidia-next-start')
  const dead = parts(
    { kind: 'running-and-libcuda', text: 'a' },
    { kind: 'disk-and-initramfs', text: 'b' },
    { kind: 'running-and-disk', text: 'c' },
  )
  expect(dead).toMatchObject({ id: 'nvidia-versions', severity: 'problem', closes: ['tier1'] })
  expect(dead!.evidence.map(({ value }) => value)).toEqual(['a', 'b'])
  expect(dead!.steps.map(textOf)).toEqual(['sudo update-initramfs -u -k all', 'sudo reboot'])
  expect(parts({ kind: 'running-and-disk', text: 'c' })).toMatchObject({ id: 'nvidia-next-start', closes: [] })
  expect(ids(about({ mismatches: [{ kind: 'several-trees', text: 'd' }] }))).toContain('nvidia-several-trees note')
})

test('static BAR1 is a note if it is off, and unknown if its state is unknown', () => {
  const state = (staticBar1: NvidiaDriver['staticBar1']) =>
    about({ staticBar1 }).find(({ id }) => id.startsWith('static-bar1'))
  expect(state({ state: 'off', reason: 'set by RMForceStaticBar1=0' })).toMatchObject({
    id: 'static-bar1-off',
    severity: 'note',
    closes: ['tier2-static-bar1'],
    steps: [{ action: { command: ['driver', 'plan', 'options', '--set', 'static-bar1'] } }],
  })
  expect(state({ state: unknown('x'), reason: 'x' })).toMatchObject({ severity: 'unknown' })
})
