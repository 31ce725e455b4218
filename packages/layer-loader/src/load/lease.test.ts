import { expect, test } from 'vitest'
import { hostMemory } from '../../test/host-memory.js'
import { Lease, type Loaded } from './lease.js'

/** Returns a lease of 12 bytes in a slot of 16 bytes, each equal to its offset, and the number of its releases. */
function lease() {
  let releases = 0
  const memory = hostMemory(Uint8Array.from({ length: 16 }, (_, index) => index))
  const loaded = {
    name: 'layer 0',
    lengthBytes: 12,
    slot: { index: 3, generation: 5, memory },
    tensors: [{ name: 'a', dtype: 'U8', shape: [8], offsetBytes: 4, lengthBytes: 8 }],
  } as Partial<Loaded> as Loaded
  return { lease: new Lease(loaded, () => releases++), releases: () => releases }
}

test('a lease gives access to the bytes of its extent and tensors, not to the rest of its slot', () => {
  const { lease: lent } = lease()
  expect([...lent.bytes]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  expect([...lent.tensor('a')]).toEqual([4, 5, 6, 7, 8, 9, 10, 11])
  expect(() => lent.tensor('b')).toThrow(RangeError)
  expect([...lent.range(2, 3)]).toEqual([2, 3, 4])
  expect(lent.lengthBytes).toBe(12)
  for (const [offset, length] of [
    [0, 13],
    [12, 1],
    [-1, 1],
    [0.5, 1],
  ] as const) {
    expect(() => lent.range(offset, length)).toThrow(/^layer 0: expected a range inside 0 to 12 bytes/)
  }
})

test('a lease that is released twice frees its slot once', () => {
  const { lease: lent, releases } = lease()
  lent.release()
  lent.release()
  lent[Symbol.dispose]()
  expect(releases()).toBe(1)
})

test('a released lease throws on access to bytes, and still describes its extent', () => {
  const { lease: lent } = lease()
  lent.release()
  for (const use of [() => lent.bytes, () => lent.memory, () => lent.tensor('a')])
    expect(use).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_USE_AFTER_RELEASE' }))
  expect(() => lent.bytes).toThrow('Cannot access the bytes of "layer 0": its lease has ended')
  expect([lent.released, lent.name, lent.slot, lent.generation]).toEqual([true, 'layer 0', 3, 5])
})
