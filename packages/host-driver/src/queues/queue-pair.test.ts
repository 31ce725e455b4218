import type { Bar, DmaMemory, QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import type { CompletionRing } from './completion-ring.js'
import type { OverdueCommand } from './overdue.js'
import { QueuePair } from './queue-pair.js'

/** A queue pair with at most two commands in flight and a submission queue of four entries; records its events. */
function queuePair() {
  const rung: number[] = []
  const completed: number[] = []
  const memory = {
    qid: 1,
    sq: { lengthBytes: 256, forDevice: () => undefined } as Partial<DmaMemory> as DmaMemory,
    sqEntries: 4,
    sqTail: 0,
    sqTailDoorbell: 0x1008,
    maxInFlight: 2,
    generations: new Uint16Array(2),
  } as Partial<QueuePairMemory> as QueuePairMemory
  const bar = { write32: (_: number, value: number) => rung.push(value) } as Partial<Bar> as Bar
  const ring = { join: () => undefined } as Partial<CompletionRing> as CompletionRing
  const pair = new QueuePair(memory, bar, ring, { completed: (slot) => completed.push(slot) })
  return { pair, rung, completed }
}

/** Abandons a command, as after its deadline. */
function giveUp(pair: QueuePair, slot: number): OverdueCommand {
  const overdue: OverdueCommand = { qid: 1, cid: pair.ids.cidOf(slot) }
  pair.ids.abandon(slot)
  pair.expect(overdue, slot)
  return overdue
}

test('rings one doorbell for all staged entries, modulo the size of the queue, and none if nothing is staged', () => {
  const { pair, rung } = queuePair()
  pair.ring()
  for (let round = 0; round < 3; round++) {
    const slots = [pair.stage(), pair.stage()]
    expect(pair.stage()).toBe(-1)
    pair.ring()
    pair.ring()
    for (const slot of slots) pair.receive(pair.ids.cidOf(slot), 0, 0)
  }
  expect(rung).toEqual([2, 0, 2])
})

test('an abandoned slot is free again only after its late completion', () => {
  const { pair, completed } = queuePair()
  const overdue = giveUp(pair, pair.stage())
  expect(pair.ids.free).toBe(1)
  pair.receive(overdue.cid, 0x4002, 7)
  expect(overdue.completion).toEqual({ status: 0x4002, dw0: 7 })
  expect(pair.ids.free).toBe(2)
  expect(completed).toEqual([])
  expect(pair.staleCompletions).toBe(0)
})

test('a late completion that arrives twice frees its slot once, and the second counts as stale', () => {
  const { pair } = queuePair()
  const overdue = giveUp(pair, pair.stage())
  pair.receive(overdue.cid, 0, 1)
  pair.receive(overdue.cid, 0x4002, 2)
  expect(overdue.completion).toEqual({ status: 0, dw0: 1 })
  expect(pair.ids.free).toBe(2)
  expect(pair.staleCompletions).toBe(1)
})

test('a repeated completion, or one with an unused identifier, is credited to no command', () => {
  const { pair, completed } = queuePair()
  const slot = pair.stage()
  const cid = pair.ids.cidOf(slot)
  pair.receive(cid, 0, 0)
  pair.receive(cid, 0, 0)
  pair.receive(0xffff, 0, 0)
  expect(completed).toEqual([slot])
  expect(pair.staleCompletions).toBe(2)
})
