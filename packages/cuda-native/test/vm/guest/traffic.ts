// Random reads and writes over 4 queues. Checks every byte.
import { Controller, type Transfer } from '@gpunvme/host-driver'
import { bytesOf, fixed, MIB, openTransport, print, take, variable } from './lib.js'
import { Content, random } from './pattern.js'

const TOTAL_BYTES = Number(variable('VM_TRAFFIC_MIB')) * MIB
const BATCH_BYTES = 16 * MIB
const LONGEST_BYTES = 512 * 1024

await using binding = await take(fixed)
await using transport = await openTransport(binding)
await using ctrl = await Controller.open(transport, { queues: 4, write: { serial: fixed.serial } })
const ns = ctrl.namespace(1)
const { blockBytes } = ns
// Earlier scenarios have written to the namespace.
await ns.writeZeroes(0, ns.blocks)
const content = new Content(ns.blocks, blockBytes)
const [writeMemory, readMemory] = [ns.dma.alloc(BATCH_BYTES), ns.dma.alloc(BATCH_BYTES)]
const [written, read, expected] = [bytesOf(writeMemory), bytesOf(readMemory), Buffer.alloc(BATCH_BYTES)]
const next = random(20261121)

/**
 * Draws transfers of random length that fill the memory, among `blocks` blocks from `lowest` on. With `apart`, they do
 * not overlap.
 */
function drawTransfers(lowest: number, blocks: number, apart: boolean): Transfer[] {
  const transfers: Transfer[] = []
  for (let left = BATCH_BYTES / blockBytes; left > 0;) {
    const count = Math.min(left, 1 + next(LONGEST_BYTES / blockBytes))
    const slba = lowest + next(blocks - count)
    const overlaps = (other: Transfer) => slba < other.slba + other.blocks && other.slba < slba + count
    if (apart && transfers.some(overlaps)) continue
    left -= count
    transfers.push({ slba, blocks: count, offsetBytes: left * blockBytes })
  }
  return transfers
}

// Reads and writes run concurrently, on different halves of the namespace, which they swap after each batch.
const half = ns.blocks / 2
const queues = new Set<number>()
const total = { readBytes: 0, writtenBytes: 0, commands: 0, wrongBatches: 0 }
const started = performance.now()
for (let batch = 0; total.readBytes + total.writtenBytes < TOTAL_BYTES; batch++) {
  const writes = drawTransfers((batch % 2) * half, half, true)
  const reads = drawTransfers(((batch + 1) % 2) * half, half, false)
  for (const { slba, blocks, offsetBytes } of writes) {
    content.advance(slba, blocks)
    content.fill(written, offsetBytes, slba, blocks)
  }
  read.fill(0xa5)
  const plans = [ns.planWrites(writes), ns.planReads(reads)] as const
  const [wrote, got] = await Promise.all([ns.execute(plans[0], writeMemory), ns.execute(plans[1], readMemory)])
  for (const { failures } of [wrote, got]) {
    if (failures[0] !== undefined) throw new Error(`a command failed: ${JSON.stringify(failures[0])}`)
  }
  for (const { slba, blocks, offsetBytes } of reads) content.fill(expected, offsetBytes, slba, blocks)
  if (!read.equals(expected)) total.wrongBatches++
  for (const { queue } of plans) queue.forEach((index) => queues.add(index))
  total.writtenBytes += wrote.bytes
  total.readBytes += got.bytes
  total.commands += wrote.commands + got.commands
}
print({ ...total, queues: [...queues].sort(), ms: Math.round(performance.now() - started) })
