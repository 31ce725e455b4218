import { expect, it } from 'vitest'
import { deriveProfile, profiles, RamMedia, simulate } from './index.js'

it.each([
  [
    'two namespaces with the same NSID',
    { namespaces: [{}, { nsid: 1 }] },
    /NSID 1 is used twice; give each namespace its own nsid/,
  ],
  ['NSID 0h', { namespaces: [{ nsid: 0 }] }, /NSID from 1 to FFFFFFFEh, got 0/],
  ['an unsupported block size', { namespaces: [{ blockBytes: 520 as 512 }] }, /512 or 4096 bytes, got 520/],
  ['a namespace smaller than a block', { namespaces: [{ capacityBytes: 511 }] }, /capacity from 512/],
  [
    'a capacity above that of the media',
    { namespaces: [{ capacityBytes: 8192, media: new RamMedia(4096) }] },
    /capacity from 512 to 4096 bytes, got 8192/,
  ],
])('rejects %s', (_, options, message) => {
  expect(() => simulate(options)).toThrow(message)
})

it('deriveProfile changes the given fields, individually in CAP and Identify, but not the preset', () => {
  const derived = deriveProfile('sn740', { commandSlots: 7, CAP: { DSTRD: 2 }, identify: { MDTS: 5 } })
  expect(derived).toEqual({
    ...profiles.sn740,
    name: 'sn740 (changed)',
    source: expect.stringMatching(
      /^sn740 with changes of: commandSlots, CAP, identify\. Source of sn740: WD PC SN740/,
    ) as string,
    points: [],
    commandSlots: 7,
    CAP: { ...profiles.sn740.CAP, DSTRD: 2 },
    identify: { ...profiles.sn740.identify, MDTS: 5 },
  })
  expect(profiles.sn740.identify.MDTS).toBe(8)
})

it('has the serial number of its profile', () => {
  expect(simulate().serial).toBe('GPUNVME-SIM-1')
  expect(simulate({ profile: deriveProfile('sn740', { identify: { SN: 'S64BNF0R' } }) }).serial).toBe('S64BNF0R')
})

it('every preset names the source of its figures', () => {
  for (const { source } of Object.values(profiles)) expect(source.length).toBeGreaterThan(20)
})

it('close removes the controller from the bus and closes the media', async () => {
  let closed = 0
  const media = Object.assign(new RamMedia(4096), { close: () => (closed += 1) })
  const { transport } = simulate({ namespaces: [{ media }] })
  await transport.close()
  expect(closed).toBe(1)
  expect(transport.bar.read32(0x1c)).toBe(0xffff_ffff)
})

const media = { capacityBytes: 4096, read: () => undefined, write: () => undefined, flush: () => undefined }

it.each([
  [5, TypeError, 'simulate options: expected an object, got 5'],
  [{ fault: { rules: [] } }, TypeError, "unknown 'fault'; known are profile, faults, seed, namespaces,"],
  [{ seed: NaN }, RangeError, 'simulate options.seed: expected a whole number from 0 to 4294967295, got NaN'],
  [{ seed: -1 }, RangeError, 'got -1'],
  [{ seed: 2 ** 32 }, RangeError, 'got 4294967296'],
  [{ seed: '1' }, TypeError, "got '1'"],
  [{ hostMemoryBytes: -1 }, RangeError, 'hostMemoryBytes: expected a whole number of bytes, 0 or more, got -1'],
  [{ spareCapacityBytes: 0.5 }, RangeError, 'spareCapacityBytes: expected a whole number of bytes, 0 or more, got 0.5'],
  [{ fragmented: 1 }, TypeError, 'fragmented: expected true or false, got 1'],
  [{ trace: {} }, TypeError, 'trace: expected a function, got an object'],
  [{ rootComplex: 'none' }, RangeError, "rootComplex: expected 'posted-only', 'full' or an object, got 'none'"],
  [{ rootComplex: 5 }, TypeError, 'got 5'],
  [{ rootComplex: { reads: true } }, TypeError, "rootComplex: unknown 'reads'; known are peerWrites, peerReads,"],
  [{ rootComplex: { survivableReads: NaN } }, RangeError, 'rootComplex.survivableReads: expected 0 or more, got NaN'],
  [{ namespaces: {} }, TypeError, 'namespaces: expected an array, got an object'],
  [{ namespaces: [null] }, TypeError, 'namespaces[0]: expected an object, got null'],
  [
    { namespaces: [{}, { lbaBytes: 512 }] },
    TypeError,
    "namespaces[1]: unknown 'lbaBytes'; known are nsid, blockBytes,",
  ],
  [
    { namespaces: [{ capacityBytes: NaN }] },
    RangeError,
    'namespaces[0].capacityBytes: expected a whole number of bytes',
  ],
  [{ namespaces: [{ eui64: 'ABCDEFGH' }] }, TypeError, "eui64: expected a Uint8Array of 8 bytes, got 'ABCDEFGH'"],
  [{ namespaces: [{ media }] }, TypeError, 'and the functions read, write, flush and close, got an object'],
  [{ namespaces: [{ media: 'disk.img' }] }, TypeError, "got 'disk.img'"],
])('rejects the options %j', (options, error, message) => {
  const start = () => simulate(options as never)
  expect(start).toThrow(error)
  expect(start).toThrow(message)
})

it('accepts a drive without a namespace', () => {
  expect(simulate({ namespaces: [] }).transport.bar.read32(0x1c)).toBe(0)
})

it.each([
  [-1, RangeError, 'got -1'],
  [2 ** 32, RangeError, 'got 4294967296'],
  [1.5, RangeError, 'got 1.5'],
  [NaN, RangeError, 'got NaN'],
  ['1', TypeError, "got '1'"],
  [undefined, TypeError, 'got undefined'],
])('a 32-bit write rejects %s with the offset, and writes nothing', (value, error, got) => {
  const { transport, statistics } = simulate()
  const write = () => transport.bar.write32(0x24, value as never)
  expect(write).toThrow(error)
  expect(write).toThrow(`register write at 0x24: expected an integer from 0 to 2^32 - 1, ${got}`)
  expect(statistics).toEqual(simulate().statistics)
})

it.each([
  [-1n, RangeError, 'got -1n'],
  [2n ** 64n, RangeError, 'got 18446744073709551616n'],
  [1, TypeError, 'got 1'],
])('a 64-bit write rejects %s with the offset', (value, error, got) => {
  const { bar } = simulate().transport
  const write = () => bar.write64(0x28, value as never)
  expect(write).toThrow(error)
  expect(write).toThrow(`register write at 0x28: expected a bigint from 0n to 2n ** 64n - 1n, ${got}`)
  expect(bar.read64(0x28)).toBe(0n)
})

it.each(['x', undefined])('rejects a reset of kind %s', async (kind) => {
  const reset = simulate().transport.reset!(kind as never)
  await expect(reset).rejects.toThrow(TypeError)
  await expect(reset).rejects.toThrow("reset: expected 'function' or 'bus', got")
})

it('freed memory has no device address, but its view stays readable', () => {
  const memory = simulate().transport.dma.alloc(4096)
  memory.view!.setUint8(0, 7)
  memory.free()
  expect(() => memory.iovaAt(0)).toThrow('iovaAt(0): this memory was freed')
  expect(memory.view!.getUint8(0)).toBe(7)
})

it('a closed transport rejects allocations, but still frees memory', async () => {
  const { transport } = simulate()
  const memory = transport.dma.alloc(4096)
  await transport.close()
  expect(() => transport.dma.alloc(4096)).toThrow('alloc: the transport was closed')
  memory.free()
})
