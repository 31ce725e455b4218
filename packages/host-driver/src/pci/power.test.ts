import { expect, test } from 'vitest'
import { PciConfigError } from '@gpunvme/nvme-spec/pci'
import type { ConfigSpace } from '@gpunvme/nvme-spec/transport'
import { configSpace } from '../../test/fake-sysfs.js'
import { disableBusMaster, enableFunction, hasFunctionLevelReset, wakeFunction } from './power.js'

/** Configuration space in memory; `written` receives every write and returns the value to store. */
function space(bytes: Uint8Array, written: (offset: number, value: number) => number = (_, value) => value) {
  const view = new DataView(bytes.buffer)
  const writes: [offset: number, value: number][] = []
  const config: ConfigSpace = {
    read: (offset, width) =>
      width === 1 ? view.getUint8(offset) : width === 2 ? view.getUint16(offset, true) : view.getUint32(offset, true),
    write: (offset, width, value) => {
      writes.push([offset, value])
      const left = written(offset, value)
      if (width === 2) view.setUint16(offset, left, true)
      else view.setUint32(offset, left, true)
    },
  }
  return { config, view, writes }
}

/** A clock that jumps to the end of each wait. */
function jumpingClock() {
  let now = 5
  return {
    now: () => now,
    idle: (untilNs: number) => {
      now = untilNs
      return Promise.resolve()
    },
  }
}

test('D3hot to D0 changes only PowerState, and takes 10 ms before the next access', async () => {
  const { config, writes } = space(configSpace({ powerState: 3 }))
  const clock = jumpingClock()
  await wakeFunction(config, clock)
  expect(writes).toEqual([[0x44, 0x0008]])
  expect(clock.now()).toBe(10_000_005)
})

test('waking does not clear PME_Status', async () => {
  const bytes = configSpace({ powerState: 3 })
  new DataView(bytes.buffer).setUint16(0x44, 0x810b, true) // PME_Status, PME_En, No_Soft_Reset, D3hot
  const { config, writes } = space(bytes)
  await wakeFunction(config, jumpingClock())
  expect(writes).toEqual([[0x44, 0x0108]])
})

test('a function in D0, or without the capability, is not written to', async () => {
  const awake = space(configSpace())
  await wakeFunction(awake.config, jumpingClock())
  expect(awake.writes).toEqual([])
  const bytes = configSpace({ powerState: 3 })
  bytes[0x34] = 0x60 // the list starts after Power Management
  const without = space(bytes)
  await wakeFunction(without.config, jumpingClock())
  expect(without.writes).toEqual([])
})

test('without No_Soft_Reset, waking restores the BARs', async () => {
  const { config, view } = space(configSpace({ powerState: 3, noSoftReset: false }), (offset, value) => {
    if (offset === 0x44) view.setUint32(0x10, 0, true)
    return value
  })
  await wakeFunction(config, jumpingClock())
  expect(view.getUint32(0x10, true)).toBe(0xfebd_0004)
})

test.each([
  [2, [0x2936, 0x0140, 0x0009, 0x0003]],
  [1, [0x2936, 0x0140, 0, 0]], // version 1 is shorter; other data follow
])(
  'without No_Soft_Reset, waking restores Device and Link Control of a version %i PCI Express capability',
  async (version, expected) => {
    const bytes = configSpace({ powerState: 3, noSoftReset: false })
    const initial = new DataView(bytes.buffer)
    initial.setUint16(0x62, version, true)
    // Linux pci_regs.h: PCI_EXP_DEVCTL 8, LNKCTL 10h, DEVCTL2 28h, LNKCTL2 30h.
    const offsets = [0x68, 0x70, 0x88, 0x90]
    for (const [index, value] of [0x2936, 0x0140, 0x0009, 0x0003].entries())
      initial.setUint16(offsets[index]!, value, true)
    const { config, view } = space(bytes, (offset, value) => {
      if (offset === 0x44) for (const register of offsets) view.setUint16(register, 0, true)
      return value
    })
    await wakeFunction(config, jumpingClock())
    expect(offsets.map((offset) => view.getUint16(offset, true))).toEqual(expected)
  },
)

test('a function that does not leave D3hot is an error with its own code', async () => {
  const { config } = space(configSpace({ powerState: 3 }), () => 0x000b)
  await expect(wakeFunction(config, jumpingClock())).rejects.toMatchObject({ code: 'ERR_GPUNVME_POWER_STATE' })
  await expect(wakeFunction(config, jumpingClock())).rejects.toThrow(
    'wrote PowerState D0 in D3HOT, 10 ms later it reads D3HOT',
  )
})

test('waking a removed function throws PciConfigError', async () => {
  const { config } = space(new Uint8Array(256).fill(0xff))
  await expect(wakeFunction(config, jumpingClock())).rejects.toThrow(PciConfigError)
})

test('enableFunction reads Bus Master Enable back, and throws if it is not set', () => {
  const { config } = space(configSpace(), (_, value) => value & ~0x0004)
  expect(() => {
    enableFunction(config)
  }).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_BUS_MASTER' }))
  const gone = space(new Uint8Array(256).fill(0xff))
  expect(() => {
    enableFunction(gone.config)
  }).toThrow('COMMAND reads 0xffff')
})

test('disableBusMaster keeps the other bits, and does not write to a removed function', () => {
  const { config, writes } = space(configSpace({ command: 0x0547 }))
  expect(disableBusMaster(config)).toBe(true)
  expect(writes).toEqual([[4, 0x0543]])
  const gone = space(new Uint8Array(256).fill(0xff))
  expect(disableBusMaster(gone.config)).toBe(false)
  expect(gone.writes).toEqual([])
})

test('hasFunctionLevelReset reads the bit of the PCI Express capability', () => {
  expect(hasFunctionLevelReset(space(configSpace()).config)).toBe(true)
  expect(hasFunctionLevelReset(space(configSpace({ flr: false })).config)).toBe(false)
  const bytes = configSpace()
  bytes[0x06] = 0 // STS.CL: no capabilities
  expect(hasFunctionLevelReset(space(bytes).config)).toBe(false)
})
