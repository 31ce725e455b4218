// 1 GiB of random reads and writes over 4 queues, each byte of which is checked.
import { Controller } from '@gpunvme/host-driver'
import { fixed, MIB, openTransport, print, take } from './lib.mjs'
import { Content, random } from './pattern.mjs'

const TOTAL_BYTES = 1024 * MIB
const BATCH_BYTES = 16 * MIB
const LONGEST_BYTES = 512 * 1024

await using binding = await take(fixed)
const transport = await openTransport(binding)
try {
  await using ctrl = await Controller.open(transport, { queues: 4, write: { serial: fixed.serial } })
  const ns = ctrl.namespace(1)
  const { blockBytes } = ns
  const content = new Content(ns.blocks, blockBytes)
  const [writeMemory, readMemory] = [ns.dma.alloc(BATCH_BYTES), ns.dma.alloc(BATCH_BYTES)]
  const bytesOf = ({ view }) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
  const [writeBytes, readBytes] = [bytesOf(writeMemory), bytesOf(readMemory)]
  const expected = new Uint8Array(BATCH_BYTES)
  const next = random(20261121)

  /** Runs of blocks of all lengths that fill the memory. Those of writes do not overlap each other. */
  const drawTransfers = (lowest, blocks, apart) => {
    const transfers = []
    for (let left = BATCH_BYTES / blockBytes; left > 0;) {
      const count = Math.min(left, 1 + next(LONGEST_BYTES / blockBytes))
      const slba = lowest + next(blocks - count)
      const overlaps = ({ slba: other, blocks: length }) => slba < other + length && other < slba + count
      if (apart && transfers.some(overlaps)) continue
      left -= count
      transfers.push({ slba, blocks: count, offsetBytes: left * blockBytes })
    }
    return transfers
  }

  // Reads and writes are under way at the same time, on halves of the namespace that change places.
  const half = ns.blocks / 2
  const queuesUsed = new Set()
  const started = performance.now()
  let moved = 0
  let commands = 0
  let wrong = 0
  for (let batch = 0; moved < TOTAL_BYTES; batch++) {
    const writes = drawTransfers((batch % 2) * half, half, true)
    const reads = drawTransfers(((batch + 1) % 2) * half, half, false)
    for (const { slba, blocks, offsetBytes } of writes) {
      content.advance(slba, blocks)
      content.fill(writeBytes, offsetBytes, slba, blocks)
    }
    if (batch > 0) readBytes.fill(0xa5)
    const plans = [
      [ns.planWrites(writes), writeMemory],
      [ns.planReads(batch > 0 ? reads : []), readMemory],
    ].filter(([plan]) => plan.commands > 0)
    for (const summary of await Promise.all(plans.map(([plan, memory]) => ns.execute(plan, memory)))) {
      if (summary.failures.length > 0) throw new Error(`commands failed: ${JSON.stringify(summary.failures[0])}`)
      moved += summary.bytes
      commands += summary.commands
    }
    for (const [plan] of plans) for (const queue of plan.queue) queuesUsed.add(queue)
    if (batch === 0) continue
    // What no write has touched is zeroes, as the image was made.
    for (const { slba, blocks, offsetBytes } of reads) {
      content.fill(expected, offsetBytes, slba, blocks)
      for (let block = 0; block < blocks; block++) {
        if (content.generations[slba + block] === 0)
          expected.fill(0, offsetBytes + block * blockBytes, offsetBytes + (block + 1) * blockBytes)
      }
    }
    if (Buffer.compare(readBytes, expected) !== 0) wrong++
  }
  const ms = Math.round(performance.now() - started)
  print({ moved, commands, wrong, queues: [...queuesUsed].sort(), ms })
} finally {
  await transport.close()
}
