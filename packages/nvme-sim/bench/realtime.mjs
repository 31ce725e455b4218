// The simulator on its own thread, driven in real time by another thread through a SharedArrayBuffer.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { RawHost } from '@gpunvme/nvme-sim/conformance'
import { startRealTimeSimulator } from '@gpunvme/nvme-sim/realtime'

const MIB = 1024 * 1024
const MEDIA_BYTES = 256 * MIB
/** Media that 4 KiB reads use: less than all, to measure the simulator and not the machine's memory. */
const SMALL_SPAN_BYTES = 64 * MIB
const ENTRIES = 64
const DEPTH = 32
const LARGE = 128 * 1024
const ROUNDS = 9

export async function bench() {
  const memory = new SharedArrayBuffer(32 * MIB)
  const simulator = await startRealTimeSimulator({ memory, namespaces: [{ capacityBytes: MEDIA_BYTES }] })
  const driver = await startDriver(simulator, memory)
  try {
    return [await small(driver, 1), await small(driver, DEPTH), await large(driver)]
  } finally {
    await driver.end()
    await simulator.close()
  }
}

async function small(driver, depth) {
  const commands = depth === 1 ? 20_000 : 60_000
  const read = { opcode: 0x02, commands, blocks: 8, depth, spanBlocks: SMALL_SPAN_BYTES / 512 }
  const copy = { blockBytes: 4096, count: commands, depth, spanBytes: SMALL_SPAN_BYTES, shared: true }
  await driver.transfer(read)
  const rates = []
  const ratios = []
  for (let round = 0; round < ROUNDS; round++) {
    const wallMs = await driver.transfer(read)
    rates.push(commands / wallMs)
    ratios.push(wallMs / (await driver.copy(copy)))
  }
  return {
    name: `Real time, two threads: 4 KiB reads from RAM media, ${depth} in flight`,
    value: median(rates),
    unit: 'thousand commands/s',
    note: `${((median(rates) * 4096) / 1e6).toFixed(2)} GB/s; ${median(ratios).toFixed(1)} × the time of copying alone`,
  }
}

async function large(driver) {
  const commands = MEDIA_BYTES / LARGE
  const read = { opcode: 0x02, commands, blocks: LARGE / 512, depth: DEPTH, spanBlocks: MEDIA_BYTES / 512, spins: 20 }
  const copy = { blockBytes: LARGE, count: commands, depth: DEPTH, spanBytes: MEDIA_BYTES }
  await driver.transfer(read)
  const rounds = []
  for (let round = 0; round < ROUNDS; round++) {
    const sharedMs = await driver.copy({ ...copy, shared: true })
    const wallMs = await driver.transfer(read)
    const plainMs = await driver.copy({ ...copy, shared: false })
    rounds.push({ ratio: sharedMs / wallMs, plain: plainMs / wallMs, wallMs, sharedMs, plainMs })
  }
  const { ratio, wallMs, sharedMs } = rounds.sort((a, b) => a.ratio - b.ratio)[ROUNDS >> 1]
  const gbs = (ms) => ((commands * LARGE) / ms / 1e6).toFixed(1)
  return {
    name: 'Real time, two threads: 128 KiB reads, 32 in flight, compared with copying the same blocks into the SharedArrayBuffer (`Uint8Array.set`)',
    value: ratio,
    unit: '×',
    goal: '≥ 0.7',
    met: ratio >= 0.7,
    note: `${gbs(wallMs)} and ${gbs(sharedMs)} GB/s; compared with copying between ArrayBuffers (${gbs(median(rounds.map(({ plainMs }) => plainMs)))} GB/s): ${median(rounds.map(({ plain }) => plain)).toFixed(2)} ×`,
  }
}

/** Brings up the controller, gives a thread a queue pair and memory for `DEPTH` commands, and fills the namespace. */
async function startDriver({ transport, layout }, memory) {
  const { dma } = transport
  const host = new RawHost(transport)
  await host.enable()
  await host.createPair(1, ENTRIES)
  const offsetOf = (allocated) => allocated.iovaAt(0) - layout.baseIova
  const workerData = {
    memory,
    barOffsetBytes: layout.barOffsetBytes,
    baseIova: layout.baseIova,
    entries: ENTRIES,
    sqOffsetBytes: offsetOf(host.sqs.get(1).memory),
    cqOffsetBytes: offsetOf(host.cqs.get(1).memory),
    slots: Array.from({ length: DEPTH }, () => ({ data: offsetOf(dma.alloc(LARGE)), list: offsetOf(dma.alloc(4096)) })),
  }
  const worker = new Worker(new URL('./lib/realtime-driver.mjs', import.meta.url), { workerData, execArgv: [] })
  const ask = async (message) => {
    worker.postMessage(message)
    return (await once(worker, 'message'))[0]
  }
  // Reads of blocks never written would be filled, not copied.
  const blocks = LARGE / 512
  const transfer = (job) => ask({ transfer: job })
  await transfer({ opcode: 0x01, commands: MEDIA_BYTES / LARGE, blocks, depth: DEPTH, spanBlocks: MEDIA_BYTES / 512 })
  return { transfer, copy: (job) => ask({ copy: job }), end: () => worker.terminate() }
}

function median(values) {
  return values.sort((a, b) => a - b)[values.length >> 1]
}
