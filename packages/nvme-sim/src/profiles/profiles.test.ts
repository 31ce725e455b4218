import { describe, expect, it } from 'vitest'
import { TestHost } from '../../test/host.js'
import { costModel, simulate } from '../index.js'
import { startRealTimeSimulator } from '../realtime/index.js'
import { deriveProfile, profiles, type ProfileChanges, type ProfileName } from './index.js'

// VS, the longest transfer in KiB, and CAP.MQES as a count, from the sources of the presets.
const facts = [
  ['ideal', 0x0002_0100, 1024, 1024],
  ['sn740', 0x0001_0400, 1024, 1024],
  ['sn530', 0x0001_0400, 512, 1024],
  ['980pro', 0x0001_0300, 512, 16_384],
  ['990pro', 0x0002_0000, 2048, 16_384],
  ['p5800x', 0x0001_0300, 128, 4096],
  ['pm1753', 0x0002_0000, 1024, 16_384],
] as const satisfies readonly (readonly [ProfileName, number, number, number])[]

it('contains these presets, each under its own name', () => {
  expect(Object.keys(profiles).sort()).toEqual(facts.map(([name]) => name).sort())
  for (const [name] of facts) expect(profiles[name].name).toBe(name)
})

describe.each(facts)('%s', (name, version, transferKib, queueEntries) => {
  it('can be enabled and reports VS, MQES, MDTS and that it is simulated', async () => {
    const host = new TestHost({ profile: name })
    expect(host.bar.read32(0x08)).toBe(version)
    expect((host.bar.read32(0x00) & 0xffff) + 1).toBe(queueEntries)
    expect((await host.enable()) & 1).toBe(1)
    const identify = host.alloc(4096)
    const { status } = await host.admin({ opcode: 0x06, prp1: identify.iovaAt(0), cdw: { 10: 1 } })
    expect(status).toBe('0/00')
    const text = (offset: number, length: number) =>
      String.fromCharCode(...Array.from({ length }, (_, i) => identify.view.getUint8(offset + i))).trimEnd()
    expect(text(4, 20)).toMatch(/^GPUNVME-SIM-/)
    expect(text(24, 40)).toMatch(/simulated/)
    expect(4 * 2 ** identify.view.getUint8(77)).toBe(transferKib)
    expect(host.simulation.diagnostics).toEqual([])
  })

  it('names the source of its figures', () => {
    expect(profiles[name].source.length).toBeGreaterThan(20)
  })
})

it('all presets have different serial and model numbers', () => {
  const all = Object.values(profiles)
  expect(new Set(all.map(({ identify }) => identify.SN)).size).toBe(7)
  expect(new Set(all.map(({ identify }) => identify.MN)).size).toBe(7)
})

it('a derived profile has no calibration points', () => {
  expect(deriveProfile('sn740', { commandNs: 1 }).points).toEqual([])
})

it('a derived profile states its changes in source, and in name unless the changes include one', () => {
  const changed = deriveProfile('sn740', { commandNs: 1, adminNs: 2 })
  expect(changed.name).toBe('sn740 (changed)')
  expect(changed.source).toMatch(/^sn740 with changes of: commandNs, adminNs\./)
  expect(deriveProfile(changed, { commandNs: 2 }).name).toBe('sn740 (changed)')
  expect(deriveProfile('sn740', { name: 'mine' }).name).toBe('mine')
})

it('presets and derived profiles are frozen, but not the objects passed to deriveProfile', () => {
  const link = { ...profiles.sn740.link!, gen: 2 as const }
  const derived = deriveProfile('sn740', { link })
  for (const profile of [profiles.sn740, derived]) {
    expect(() => Object.assign(profile, { readNs: 5 })).toThrow(TypeError)
    expect(() => Object.assign(profile.identify, { MDTS: 0 })).toThrow(TypeError)
    expect(() => Object.assign(profile.readNs, { 0: NaN })).toThrow(TypeError)
  }
  expect(() => Object.assign(profiles, { ideal: derived })).toThrow(TypeError)
  Object.assign(link, { gen: 9 })
  expect(derived.link?.gen).toBe(2)
})

const thermal = { factor: 1.5, limitBytes: 10, recoveredBytes: 9, coolingBytesPerSecond: 1 }
const { link } = profiles.sn740

describe.each([
  [{ enableNs: NaN }, RangeError, 'enableNs: expected 0 to 1e15 nanoseconds, got NaN'],
  [{ shutdownNs: Infinity }, RangeError, 'shutdownNs: expected 0 to 1e15 nanoseconds, got Infinity'],
  [{ commandNs: -1 }, RangeError, 'commandNs: expected 0 to 1e15 nanoseconds, got -1'],
  [{ adminNs: '5' }, TypeError, "adminNs: expected 0 to 1e15 nanoseconds, got '5'"],
  [{ readNs: 5 }, TypeError, 'readNs: expected five quantiles in nanoseconds, 0 to 1e15, in ascending order, got 5'],
  [{ readNs: [5, 4, 4, 4, 4] }, RangeError, 'in ascending order, got [5,4,4,4,4]'],
  [{ flushNs: [1, 2, 3, 4] }, RangeError, 'in ascending order, got [1,2,3,4]'],
  [{ writeNs: [0, 0, 0, 0, NaN] }, RangeError, 'in ascending order, got [0,0,0,0,NaN]'],
  [{ readBytesPerSec: 1e9 }, TypeError, "unknown 'readBytesPerSec'; known are name, source, points, CAP,"],
  [{ readBytesPerSecond: 0 }, RangeError, 'readBytesPerSecond: expected 1 byte a second or more, or Infinity, got 0'],
  [{ ioQueuePairs: -1 }, RangeError, 'ioQueuePairs: expected a whole number from 1 to 2047, got -1'],
  [{ commandSlots: 0 }, RangeError, 'commandSlots: expected a whole number from 1 to 65536, got 0'],
  [{ mediaUnits: 1.5 }, RangeError, 'mediaUnits: expected a whole number from 1 to 65536, got 1.5'],
  [{ VS: -1 }, RangeError, 'VS: expected 32 bits, got -1'],
  [{ name: 5 }, TypeError, 'name: expected a string, got 5'],
  [{ points: [{ metric: 'x' }] }, TypeError, 'points[0].publishedValue: expected a number, got undefined'],
  [{ CAP: { MQES: NaN } }, RangeError, 'CAP.MQES'],
  [{ CAP: 5 }, TypeError, 'CAP: expected an object, got 5'],
  [{ identify: { MTDS: 5 } }, TypeError, 'has no field MTDS'],
  [{ link: { ...link, gen: 9 } }, RangeError, 'link.gen: expected one of 1, 2, 3, 4, 5, got 9'],
  [{ link: { ...link, width: 3 } }, RangeError, 'link width: expected 1, 2, 4, 8 or 16 lanes, got 3'],
  [{ link: { ...link, mps: 100 } }, RangeError, 'MPS: expected 128 to 4096, a power of two, got 100'],
  [{ link: { ...link, lanes: 4 } }, TypeError, "link: unknown 'lanes'"],
  [{ thermal: { ...thermal, factor: NaN } }, RangeError, 'thermal.factor: expected a factor from 1 to 1e6, got NaN'],
  [
    { thermal: { ...thermal, recoveredBytes: 10 } },
    RangeError,
    'recoveredBytes: expected less than limitBytes, 10, got',
  ],
] as const)('rejects %j', (changes, error, message) => {
  // An untyped caller can pass this.
  const wrong = changes as unknown as ProfileChanges

  it('in deriveProfile', () => {
    expect(() => deriveProfile('sn740', wrong)).toThrow(error)
    expect(() => deriveProfile('sn740', wrong)).toThrow(message)
  })

  it('in a profile of the caller passed to any function', () => {
    const profile = { ...profiles.sn740, ...wrong }
    for (const use of [() => simulate({ profile }), () => costModel(profile), () => deriveProfile(profile, {})]) {
      expect(use).toThrow(error)
      expect(use).toThrow(message)
    }
  })
})

it.each([
  ['sn750', RangeError, "expected one of ideal, sn740, sn530, 980pro, 990pro, p5800x, pm1753, got 'sn750'"],
  ['toString', RangeError, "p5800x, pm1753, got 'toString'"],
  [5, TypeError, "expected a preset's name or a profile, got 5"],
  [null, TypeError, "expected a preset's name or a profile, got null"],
])('every function rejects the profile %j', async (profile, error, message) => {
  const wrong = profile as ProfileName
  for (const use of [() => simulate({ profile: wrong }), () => costModel(wrong), () => deriveProfile(wrong, {})]) {
    expect(use).toThrow(error)
    expect(use).toThrow(message)
  }
  const started = startRealTimeSimulator({ memory: new SharedArrayBuffer(1 << 20), profile: wrong })
  await expect(started).rejects.toThrow(message)
})

it('rejects a profile without a required figure', () => {
  expect(() => deriveProfile('sn740', { readNs: undefined } as never)).toThrow(
    'profile.readNs: expected five quantiles',
  )
  expect(() => deriveProfile('sn740', undefined as never)).toThrow(
    'deriveProfile changes: expected an object, got undefined',
  )
})
