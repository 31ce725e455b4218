import type { Bar, CompletionQueueMemory, DmaMemory } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import { CompletionRing } from './completion-ring.js'

/** Returns a ring of four entries without a view. Each poll copies the next of `copies`, or the last one again. */
function ringOf(copies: readonly Uint8Array[], head = 0, phase: 0 | 1 = 1) {
  const rung: number[] = []
  const memory: DmaMemory = {
    lengthBytes: 64,
    segments: [],
    iovaAt: (offset) => offset,
    forDevice: () => undefined,
    forHost: () => undefined,
    free: () => undefined,
    copyOut: (_, into) => into.set((copies.length > 1 ? (copies as Uint8Array[]).shift() : copies[0])!),
  }
  const queue: CompletionQueueMemory = { cqid: 1, entries: 4, memory, headDoorbell: 0x100c, head, phase }
  const ring = new CompletionRing(queue, { write32: (_, value) => rung.push(value) } as Partial<Bar> as Bar)
  const received: [number, number][] = []
  ring.join(1, { receive: (cid, status) => received.push([cid, status]) })
  return { ring, queue, rung, received }
}

/** Entries of queue 1: DW2 has SQID in its upper half, DW3 has CID in its lower and status with Phase Tag in its upper. */
function entries(...of: readonly (readonly [index: number, dw2: number, dw3: number])[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(64))
  for (const [index, dw2, dw3] of of) {
    view.setUint32(16 * index + 8, dw2, true)
    view.setUint32(16 * index + 12, dw3, true)
  }
  return new Uint8Array(view.buffer)
}

test('reads a half-written entry from a copy that began after its Phase Tag was seen', () => {
  const half = entries([0, 0, 0x0001_0000])
  const whole = entries([0, 0x0001_0000, 0x0001_0007])
  const { ring, received, rung } = ringOf([half, whole])
  expect(ring.poll()).toBe(1)
  expect(received).toEqual([[7, 0]])
  expect(rung).toEqual([1])
})

test('leaves an entry that only the second copy has for the next poll', () => {
  const first = entries([0, 0x0001_0000, 0x0001_0007])
  const second = entries([0, 0x0001_0000, 0x0001_0007], [1, 0, 0x0001_0000])
  const later = entries([0, 0x0001_0000, 0x0001_0007], [1, 0x0001_0000, 0x0001_0008])
  const { ring, received } = ringOf([first, second, later])
  expect(ring.poll()).toBe(1)
  expect(ring.poll()).toBe(1)
  expect(received).toEqual([
    [7, 0],
    [8, 0],
  ])
})

test('counts new entries across the end of the ring, where the Phase Tag inverts', () => {
  const over = entries([3, 0x0001_0000, 0x0001_0005], [0, 0x0001_0000, 0x0000_0006], [1, 0x0001_0000, 0x0001_0004])
  const { ring, queue, received, rung } = ringOf([over], 3, 1)
  expect(ring.poll()).toBe(2)
  expect(received).toEqual([
    [5, 0],
    [6, 0],
  ])
  expect(queue).toMatchObject({ head: 1, phase: 0 })
  expect(rung).toEqual([1])
})
