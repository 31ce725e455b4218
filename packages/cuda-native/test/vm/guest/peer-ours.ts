// Measures this driver through sysfs, with plans of many reads and with single reads.
import { Controller, type Namespace } from '@gpunvme/host-driver'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { fixed, openTransport, print, take } from './lib.js'
import { random } from './pattern.js'
import { between, instant, order, type Measurement, type Shape } from './peer-window.js'

const next = random(20261121)

await using binding = await take(fixed)
await using transport = await openTransport(binding)

interface Target {
  readonly ns: Namespace
  readonly memory: DmaMemory
}

/** Reads until `progress.stop` is true, and counts completed reads in `progress.ios`. */
type Reader = (target: Target, shape: Shape, progress: { ios: number; stop: boolean }) => Promise<void>

const offsets = (ns: Namespace, bytes: number) => next(order.spanBytes / bytes) * (bytes / ns.blockBytes)

const PLAN_READS = 256

/** Executes plans of PLAN_READS reads, one after another. The measured time includes planning. */
const byPlans: Reader = async ({ ns, memory }, { bytes, depth }, progress) => {
  const blocks = bytes / ns.blockBytes
  while (!progress.stop) {
    const transfers = Array.from({ length: PLAN_READS }, (_, index) => ({
      slba: offsets(ns, bytes),
      blocks,
      offsetBytes: (index % depth) * bytes,
    }))
    const { failures } = await ns.execute(ns.planReads(transfers), memory)
    if (failures.length > 0) throw new Error(`a read failed: ${JSON.stringify(failures[0])}`)
    progress.ios += PLAN_READS
  }
}

/** Runs `depth` loops concurrently, each of which awaits one read at a time. */
const oneByOne: Reader = async ({ ns, memory }, { bytes, depth }, progress) => {
  const blocks = bytes / ns.blockBytes
  const reader = async (slot: number) => {
    while (!progress.stop) {
      await ns.read(offsets(ns, bytes), blocks, memory, { offsetBytes: slot * bytes })
      progress.ios++
    }
  }
  await Promise.all(Array.from({ length: depth }, (_, slot) => reader(slot)))
}

async function measure(driver: string, reader: Reader, shape: Shape): Promise<Measurement> {
  // A read larger than MDTS is split into several commands.
  const probe = await Controller.open(transport, { queueDepth: 1 })
  const commands = Math.ceil(shape.bytes / probe.namespace(1).maxTransferBytes)
  await probe.close()
  await using ctrl = await Controller.open(transport, { queueDepth: shape.depth * commands })
  const ns = ctrl.namespace(1)
  const memory = ns.dma.alloc(shape.depth * shape.bytes)
  const progress = { ios: 0, stop: false }
  const reading = reader({ ns, memory }, shape, progress)
  const wait = (ms: number) => Promise.race([reading, new Promise((resolve) => setTimeout(resolve, ms))])
  await wait(order.warmUpMs)
  const [first, firstIos, cpu] = [instant(), progress.ios, process.cpuUsage()]
  await wait(order.windowMs)
  const [last, ios, { user, system }] = [instant(), progress.ios - firstIos, process.cpuUsage(cpu)]
  progress.stop = true
  await reading
  memory.free()
  return { driver, shape: shape.name, ios, ...between(first, last), cpuUs: { user, system } }
}

// Warm up: on an emulated CPU, Node takes seconds to compile hot functions.
for (const reader of [byPlans, oneByOne]) {
  for (const shape of [order.shapes[1]!, order.shapes[0]!]) await measure('compiling', reader, shape)
}
for (const shape of order.shapes) {
  print(await measure('plans', byPlans, shape))
  print(await measure('one by one', oneByOne, shape))
}
