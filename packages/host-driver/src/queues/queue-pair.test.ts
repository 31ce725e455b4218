import type { Bar, DmaMemory, QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import type { CompletionRing } from './completion-ring.js'
import { QueuePair, type OverdueCommand } from './queue-pair.js'

const DEADLINE_NS = 1000

function memory(lengthBytes: number): DmaMemory {
  return {
    lengthBytes,
    view: new DataView(new ArrayBuffer(lengthBytes)),
    forDevice: () => undefined,
  } as Partial<DmaMemory> as DmaMemory
}

/** A queue pair with at most two commands in flight and a submission queue of four entries; records its events. */
function queuePair() {
  const rung: number[] = []
  const completed: number[] = []
  const lost: { command: number; overdue: OverdueCommand; csts: number | undefined }[] = []
  const queue = {
    qid: 1,
    sq: memory(256),
    sqEntries: 4,
    sqTail: 0,
    sqTailDoorbell: 0x1008,
    maxInFlight: 2,
    prpLists: memory(4096),
    prpListBytes: 0,
    pageBytes: 4096,
    generations: new Uint16Array(2),
  } as Partial<QueuePairMemory> as QueuePairMemory
  const bar = { write32: (_: number, value: number) => rung.push(value) } as Partial<Bar> as Bar
  const ring = { join: () => undefined } as Partial<CompletionRing> as CompletionRing
  const pair = new QueuePair(queue, bar, ring)
  const owner = {
    completed: (_: QueuePair, slot: number) => void completed.push(slot),
    givenUp: (command: number, overdue: OverdueCommand, csts: number | undefined) =>
      void lost.push({ command, overdue, csts }),
  }
  const stage = (command = 0, deadlineNs = DEADLINE_NS) => {
    const slot = pair.stage(owner, command)
    if (slot >= 0) pair.deadlinesNs[slot] = deadlineNs
    return slot
  }
  return { pair, stage, rung, completed, lost }
}

test('rings one doorbell for all staged entries, modulo the size of the queue, and none if nothing is staged', () => {
  const { pair, stage, rung } = queuePair()
  pair.ring()
  for (let round = 0; round < 3; round++) {
    const slots = [stage(), stage()]
    expect(stage()).toBe(-1)
    pair.ring()
    pair.ring()
    for (const slot of slots) pair.receive(pair.ids.cidOf(slot), 0, 0)
  }
  expect(rung).toEqual([2, 0, 2])
})

test('an abandoned slot is free again only after its late completion', () => {
  const { pair, stage, completed, lost } = queuePair()
  stage()
  pair.giveUp(DEADLINE_NS, undefined)
  const { overdue } = lost[0]!
  expect(pair.ids.free).toBe(1)
  pair.receive(overdue.cid, 0x4002, 7)
  expect(overdue.completion).toEqual({ status: 0x4002, dw0: 7 })
  expect(pair.ids.free).toBe(2)
  expect(completed).toEqual([])
  expect(pair.staleCompletions).toBe(0)
})

test('a late completion that arrives twice frees its slot once, and the second counts as stale', () => {
  const { pair, stage, lost } = queuePair()
  stage()
  pair.giveUp(DEADLINE_NS, undefined)
  const { overdue } = lost[0]!
  pair.receive(overdue.cid, 0, 1)
  pair.receive(overdue.cid, 0x4002, 2)
  expect(overdue.completion).toEqual({ status: 0, dw0: 1 })
  expect(pair.ids.free).toBe(2)
  expect(pair.staleCompletions).toBe(1)
})

test('a repeated completion, or one with an unused identifier, is credited to no command', () => {
  const { pair, stage, completed } = queuePair()
  const slot = stage()
  const cid = pair.ids.cidOf(slot)
  pair.receive(cid, 0, 0)
  pair.receive(cid, 0, 0)
  pair.receive(0xffff, 0, 0)
  expect(completed).toEqual([slot])
  expect(pair.staleCompletions).toBe(2)
})

test('gives up a command at its deadline and not before, and others at theirs', () => {
  const { pair, stage, lost } = queuePair()
  stage(7, 1000)
  stage(8, 2000)
  expect(pair.earliestDeadlineNs()).toBe(1000)
  expect(pair.giveUp(999, undefined)).toBe(0)
  expect(pair.giveUp(1000, undefined)).toBe(1)
  expect(lost).toMatchObject([{ command: 7, overdue: { qid: 1 }, csts: undefined }])
  expect(pair.earliestDeadlineNs()).toBe(2000)
})

test('gives up every command of a lost controller, except those that it may hold for any time', () => {
  const { pair, stage, lost, completed } = queuePair()
  const held = stage(1, Infinity)
  stage(2, 1000)
  expect(pair.giveUp(0, 0xffff_ffff)).toBe(1)
  expect(lost).toMatchObject([{ command: 2, csts: 0xffff_ffff }])
  pair.receive(pair.ids.cidOf(held), 0, 0)
  expect(completed).toEqual([held])
})

test('a slot that is used again does not inherit the deadline of its last command', () => {
  const { pair, stage, lost } = queuePair()
  const slot = stage(1, 1000)
  pair.receive(pair.ids.cidOf(slot), 0, 0)
  expect(pair.earliestDeadlineNs()).toBe(Infinity)
  expect(pair.giveUp(2000, undefined)).toBe(0)
  expect(lost).toEqual([])
})
