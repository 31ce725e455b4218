import { expect, test } from 'vitest'
import { facts, GPU, OPEN_MODULE, RUNNING, withFunction } from '../../../test/doctor/facts.js'
import { unknown } from '../../machine/known.js'
import type { ModuleContents, NvidiaDriver } from '../../nvidia/index.js'
import { checkNvidia } from './nvidia.js'

const about = (nvidia: Partial<NvidiaDriver>) => checkNvidia(facts({ nvidia }))
const ids = (findings: ReturnType<typeof about>) => findings.map(({ id, severity }) => `${id} ${severity}`)
const onDisk = (changes: Partial<ModuleContents>): Partial<NvidiaDriver> => ({
  onDisk: [{ ...OPEN_MODULE, contents: { ...(OPEN_MODULE.contents as ModuleContents), ...changes } }],
})

test('the open flavour of 590 on 6.17 is as it should be', () => {
  expect(ids(about({}))).toEqual(['generation ok', 'nvidia ok', 'flavour ok', 'pfn-lookup ok', 'static-bar1 ok'])
})

test('the proprietary flavour: no dma-buf, no doorbells by the GPU, and the open one of the same branch as the remedy', () => {
  const findings = about({
    running: { ...RUNNING, flavour: 'proprietary' },
    ...onDisk({ flavour: 'proprietary', license: 'NVIDIA', pfnLookup: 'none' }),
  })
  expect(ids(findings)).toContain('flavour-proprietary problem')
  const dead = findings.find(({ id }) => id === 'pfn-lookup-dead')!
  expect(dead).toMatchObject({ severity: 'problem', closes: ['tier1-cuda'] })
  expect(dead.steps.map(({ text }) => text)).toEqual([
    'sudo apt install nvidia-driver-590-open',
    'sudo reboot',
    'must it stay proprietary: gpunvme driver plan',
  ])
})

test('an open build that found no look-up is from before the fix, or from headers that lacked Module.symvers', () => {
  const dead = about(onDisk({ pfnLookup: 'none' })).find(({ id }) => id === 'pfn-lookup-dead')!
  expect(dead.cause).toMatch(/Module\.symvers/)
  expect(dead.steps.at(-1)?.text).toBe('gpunvme driver')
})

test('a module on disk that is not the one that runs says nothing of it', () => {
  for (const other of [onDisk({ version: '580.82.07' }), onDisk({ srcversion: 'B2' }), { onDisk: [] }])
    expect(ids(about(other))).toContain('pfn-lookup-unknown unknown')
  expect(ids(about({ onDisk: unknown('needs root: /lib/modules') }))).toContain('pfn-lookup-unknown unknown')
})

test('where no module runs: it is loaded where there is one, and installed where there is none', () => {
  expect(ids(about({ running: undefined }))).toEqual(['generation ok', 'nvidia-not-loaded problem'])
  expect(ids(about({ running: undefined, onDisk: [] }))).toEqual(['generation ok', 'nvidia-missing problem'])
  expect(ids(about({ running: unknown('no /proc') }))).toEqual(['generation ok', 'nvidia-unknown unknown'])
})

test('a GPU that nouveau has needs another driver, and one that was given to vfio-pci is given back', () => {
  const withDriver = (driver: string) => checkNvidia(facts({ machine: withFunction(GPU, { driver }) }))[0]!
  expect(withDriver('nouveau')).toMatchObject({ id: 'gpu-driver', closes: ['tier1'] })
  expect(withDriver('nouveau').steps[0]!.text).toBe('sudo apt install nvidia-driver-590-open')
  expect(withDriver('vfio-pci').steps[0]!.text).toMatch(/give it back/)
})

test('generations: older than Turing, Blackwell, and chips that nobody knows yet', () => {
  const withDevice = (deviceId: number) => checkNvidia(facts({ machine: withFunction(GPU, { deviceId }) }))[0]!
  // GTX 1080 Ti, RTX 5090, and a number beyond every known block.
  expect(withDevice(0x1b06)).toMatchObject({ id: 'generation-old', severity: 'problem' })
  expect(withDevice(0x2b85)).toMatchObject({ id: 'blackwell', closes: ['tier1-cuda'] })
  expect(withDevice(0xfff0)).toMatchObject({ id: 'generation-unknown', severity: 'unknown' })
})

test('libcuda of another version ends CUDA, other disagreements only what comes after the next start', () => {
  const [library, disk] = about({
    mismatches: [
      { kind: 'running-and-libcuda', text: 'a' },
      { kind: 'running-and-disk', text: 'b' },
    ],
  }).filter(({ id }) => id.startsWith('nvidia-running'))
  expect(library).toMatchObject({ severity: 'problem', closes: ['tier1'] })
  expect(disk).toMatchObject({ severity: 'problem', closes: [] })
})

test('static BAR1: off by a key, too old, and unknown', () => {
  const state = (staticBar1: NvidiaDriver['staticBar1']) =>
    about({ staticBar1 }).find(({ id }) => id.startsWith('static-bar1'))
  expect(state({ state: 'off', because: 'RMForceStaticBar1=0 says so' })).toMatchObject({
    id: 'static-bar1-off',
    severity: 'note',
    closes: ['tier2-static-bar1'],
    steps: [{ text: 'gpunvme driver plan' }],
  })
  expect(state({ state: unknown('x'), because: 'x' })).toMatchObject({ severity: 'unknown' })
})
