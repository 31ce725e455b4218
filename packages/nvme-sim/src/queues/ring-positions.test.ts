import { expect, test } from 'vitest'
import { CompletionQueue, SubmissionQueue, type Completion } from './queue.js'
import { ShadowDoorbell } from './shadow-doorbells.js'

const ENTRIES = 4

function queues() {
  const cq = new CompletionQueue(1, ENTRIES, 0x1000, [new Uint8Array(ENTRIES * 16)])
  const sq = new SubmissionQueue(1, ENTRIES, 0x2000, [new Uint8Array(ENTRIES * 64)], cq)
  return { cq, sq }
}

const completionOf = (sq: SubmissionQueue): Completion => ({ sq, cid: 0, status: 0, dw0: 0, dw1: 0, fetchedNs: 0 })

test('a tail doorbell adds at most queue size - 1 entries: a full lap would mean empty', () => {
  for (const start of [0, 1, 2, 3]) {
    const { sq } = queues()
    sq.head = sq.tail = start
    expect(sq.submit(start)).toBeUndefined()
    expect(sq.submit((start + 3) % ENTRIES)).toBeUndefined()
    expect(sq.submit(start)).toBe('it adds 1 entries, more than the 0 free')
    expect(sq.submit((start + 2) % ENTRIES)).toBe('it adds 3 entries, more than the 0 free')
    expect(sq.submit(ENTRIES)).toBe('SQ 1 has 4 entries')
    expect(sq.tail).toBe((start + 3) % ENTRIES)
  }
})

test('a head doorbell releases at most the posted entries', () => {
  const { cq, sq } = queues()
  cq.post(completionOf(sq))
  cq.post(completionOf(sq))
  expect(cq.release(3)).toBe('it releases 3 entries, more than the 2 posted')
  expect(cq.release(ENTRIES)).toBe('CQ 1 has 4 entries')
  expect(cq.release(1)).toBeUndefined()
  expect(cq.release(3)).toBe('it releases 2 entries, more than the 1 posted')
  expect([cq.head, cq.posted]).toEqual([1, 1])
})

test('detects a tail stored while the controller stores EventIdx before the controller becomes idle', () => {
  const { sq } = queues()
  const doorbells = new Int32Array(new SharedArrayBuffer(4))
  const events = new Int32Array(new SharedArrayBuffer(4))
  // The host compares its tail with the old EventIdx and rings no doorbell: only a second read detects the new tail.
  let looks = 0
  const isThere = () => {
    if (++looks === 2) doorbells[0] = 1
    return true
  }
  const hooks = { seen: () => undefined, mistaken: () => undefined, isThere }
  sq.head = sq.tail = 0
  sq.shadow = new ShadowDoorbell({ doorbells: [doorbells], events: [events] }, 0, hooks)
  expect(sq.isEligible()).toBe(true)
  expect(sq.tail).toBe(1)
})
