import { describe, expect, test } from 'vitest'
import { settingOf, type BenchFlags } from './bench-flags.js'

const GIB = 1024 ** 3
const FLAGS: BenchFlags = {
  ...{ bs: [4096], qd: [1], rw: ['read'], numjobs: [1], pattern: 'random', coolDown: 1, repeats: 5, offset: 0 },
}
const DRIVE = { blockBytes: 512, capacityBytes: 4 * GIB }
const { signal } = new AbortController()
const setting = (changes: Partial<BenchFlags>, time: 'wall' | 'modelled' = 'wall', drive = DRIVE) =>
  settingOf({ ...FLAGS, ...changes }, time, drive, signal)

test('the default span is the whole namespace for reads, and at most 1 GiB for writes', () => {
  expect(setting({}).span).toEqual({ firstBlock: 0, blocks: (4 * GIB) / 512 })
  expect(setting({ rw: ['read', 'randwrite'] }).span).toEqual({ firstBlock: 0, blocks: GIB / 512 })
  expect(setting({ rw: ['write'], offset: 3.5 * GIB }).span).toEqual({
    firstBlock: (3.5 * GIB) / 512,
    blocks: GIB / 2 / 512,
  })
  expect(setting({ offset: 8192, size: 4096 }).span).toEqual({ firstBlock: 16, blocks: 8 })
})

test('a repeat takes 5 s by default, and 0.05 s in modelled time', () => {
  expect(setting({})).toMatchObject({ seconds: 5, warmUpSeconds: 1 })
  expect(setting({}, 'modelled')).toMatchObject({ seconds: 0.05, warmUpSeconds: 0.005 })
  expect(setting({ time: 60, warmUp: 0 }, 'modelled')).toMatchObject({ seconds: 60, warmUpSeconds: 0 })
})

describe('settingOf rejects a span outside of the namespace or not in whole blocks:', () => {
  test.each([
    [{ size: 5 * GIB }, 512, /exceed the namespace/],
    [{ offset: 4 * GIB }, 512, /exceed the namespace/],
    [{ offset: 3 * GIB, size: 2 * GIB }, 512, /exceed the namespace/],
    [{ size: 0 }, 512, /exceed the namespace/],
    [{ offset: 512 }, 4096, /multiples of 4096 bytes/],
    [{ size: 1000 }, 512, /multiples of 512 bytes/],
  ])('%j with blocks of %i bytes', (changes, blockBytes, expected) => {
    expect(() => setting(changes, 'wall', { ...DRIVE, blockBytes })).toThrow(expected)
  })
})
