import { CSTS, Flush } from '@gpunvme/nvme-spec'
import type { Bar, DmaMemory } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import { CommandQueue } from '../../src/commands/command-queue.js'
import { allocateCompletionQueue, allocateQueuePair } from '../../src/queues/memory.js'

let nextIova = 0x10_0000
const dma = {
  alloc(lengthBytes: number): DmaMemory {
    const iova = nextIova
    nextIova += 0x10_0000
    return {
      lengthBytes,
      view: new DataView(new ArrayBuffer(lengthBytes)),
      segments: [{ offsetBytes: 0, iova, lengthBytes }],
      iovaAt: (offset: number) => iova + offset,
      forDevice: () => undefined,
      forHost: () => undefined,
      free: () => undefined,
    }
  },
}

test('submits a command at once while another is in flight', async () => {
  const doorbells: number[] = []
  const bar = {
    read32: () => CSTS.encode({ RDY: 1 }),
    write32: (_offset: number, value: number) => doorbells.push(value),
  } as Partial<Bar> as Bar
  // Waits last 10 ms: here, for ever.
  const clock = { now: () => 0, idle: () => new Promise<void>(() => undefined) }
  const setting = { dstrd: 0, pageBytes: 4096, maxTransferBytes: 4096 }
  const cq = allocateCompletionQueue(dma, setting, 1, 16)
  const memory = allocateQueuePair(dma, setting, { qid: 1, sqEntries: 16, depth: 15 }, cq)
  const queue = new CommandQueue('nvm', memory, { name: 'scripted', bar, clock }, dma, 1_000_000_000)
  const start = () => void queue.execute(Flush, { NSID: 1 })
  start()
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
  expect(doorbells).toEqual([1])
  start()
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
  expect(doorbells).toEqual([1, 2])
})
