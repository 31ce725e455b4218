import { expect, test } from 'vitest'
import { facts, gpu, MACHINE, NEEDS_ROOT, textOf } from '../../../test/doctor/facts.js'
import type { GpuWindow } from '../../machine/machine.js'
import { unknown } from '../../machine/known.js'
import { checkWindows } from './windows.js'

const MIB = 1024 ** 2
const GIB = 1024 ** 3
const SMALL: GpuWindow = { bar: 1, sizeBytes: 256 * MIB, address: 0xd000_0000, sizesBytes: [256 * MIB, 32 * GIB] }

const found = (window: GpuWindow) => checkWindows(facts({ machine: { gpus: [gpu({ window })] } }))

test('a BAR1 of 32 GiB for 24 GiB of memory is ok', () => {
  expect(checkWindows(facts())).toMatchObject([
    { id: 'window-whole', severity: 'ok', title: 'GPU 0000:0a:00.0: BAR1 (32 GiB) covers all of its 24 GiB' },
  ])
})

test('a small BAR1 of a card that supports a larger one has firmware steps', () => {
  const [finding] = found(SMALL)
  expect(finding).toMatchObject({ id: 'window-small', severity: 'problem', closes: ['tier2-static-bar1'] })
  expect(finding!.steps.map((step) => `${step.kind}: ${textOf(step)}`)).toEqual([
    'firmware: firmware setup (ROG STRIX B450-F GAMING II): set "Above 4G Decoding" to Enabled, usually under Advanced > PCI Subsystem Settings',
    'firmware: firmware setup (ROG STRIX B450-F GAMING II): set "Re-Size BAR Support" (or "Resizable BAR", "Smart Access Memory") to Enabled, usually under Advanced > PCI Subsystem Settings',
  ])
  expect(found({ ...SMALL, address: 0x70_0000_0000 })[0]!.steps).toHaveLength(1)
})

test('a small BAR1 of a card without larger sizes has no firmware steps', () => {
  const [only256] = found({ ...SMALL, sizesBytes: [64 * MIB, 128 * MIB, 256 * MIB] })
  expect(only256!.cause).toMatch(/^The card supports at most 256 MiB/)
  expect(only256!.steps).toMatchObject([{ kind: 'hands' }])
  expect(found({ ...SMALL, sizesBytes: undefined })[0]!.cause).toMatch(/no other size/)
})

test('unreadable sizes are unknown, not absent', () => {
  expect(found({ ...SMALL, sizesBytes: NEEDS_ROOT })[0]!.cause).toMatch(/could not be read/)
  const blind = facts({ machine: { gpus: [gpu({ window: unknown('no BAR has an address') })] } })
  expect(checkWindows(blind)).toMatchObject([{ severity: 'unknown', closes: ['tier2-dma-buf', 'tier2-static-bar1'] }])
  const machine = { gpus: [gpu({ memoryBytes: unknown('no driver') })] }
  expect(checkWindows(facts({ machine, process: null }))).toMatchObject([
    { severity: 'unknown', closes: ['tier2-static-bar1'] },
  ])
  // CUDA reports the size of the memory.
  expect(checkWindows(facts({ machine }))).toMatchObject([{ id: 'window-whole' }])
})

test('a BAR1 of 256 MiB is a problem even if the size of the memory is unknown', () => {
  const machine = { gpus: [gpu({ window: SMALL, memoryBytes: unknown('no driver') })] }
  expect(checkWindows(facts({ machine, process: null }))).toMatchObject([{ id: 'window-small', severity: 'problem' }])
})

test('GPUs of other vendors are not checked', () => {
  expect(checkWindows(facts({ machine: { ...MACHINE, gpus: [gpu({ vendor: 'AMD' })] } }))).toEqual([])
})
