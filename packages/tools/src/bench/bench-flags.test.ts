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

test('all of a namespace is read, and no more than 1 GiB of it written to', () => {
  expect(setting({}).span).toEqual({ firstBlock: 0, blocks: (4 * GIB) / 512 })
  expect(setting({ rw: ['read', 'randwrite'] }).span).toEqual({ firstBlock: 0, blocks: GIB / 512 })
  expect(setting({ rw: ['write'], offset: 3.5 * GIB }).span).toEqual({
    firstBlock: (3.5 * GIB) / 512,
    blocks: GIB / 2 / 512,
  })
  expect(setting({ offset: 8192, size: 4096 }).span).toEqual({ firstBlock: 16, blocks: 8 })
})

test('a repeat lasts 5 s, and on a simulated drive a hundredth of that', () => {
  expect(setting({})).toMatchObject({ seconds: 5, warmUpSeconds: 1 })
  expect(setting({}, 'modelled')).toMatchObject({ seconds: 0.05, warmUpSeconds: 0.005 })
  expect(setting({ time: 60, warmUp: 0 }, 'modelled')).toMatchObject({ seconds: 60, warmUpSeconds: 0 })
})

describe('a part that the namespace does not have is refused', () => {
  test.each([
    [{ size: 5 * GIB }, 512, /exceed the namespace/],
    [{ offset: 4 * GIB }, 512, /exceed the namespace/],
    [{ offset: 3 * GIB, size: 2 * GIB }, 512, /exceed the namespace/],
    [{ size: 0 }, 512, /exceed the namespace/],
    [{ offset: 512 }, 4096, /multiples of 4096 bytes/],
    [{ size: 1000 }, 512, /multiples of 512 bytes/],
  ])('%j of blocks of %i bytes', (changes, blockBytes, expected) => {
    expect(() => setting(changes, 'wall', { ...DRIVE, blockBytes })).toThrow(expected)
  })
})
