import { equal, fail, type Check } from '../check.js'
import { driveAddonOf, KIB, type CheckContext } from '../context.js'
import type { DriveAddon } from '../drive-addon.js'
import { DEPTH, DriveRegion, ENTRIES, PAIR, runEngine } from '../engine-on-drive.js'
import { bytesOf } from '../memory.js'
import { ratio } from '../report.js'

/** Threads of a leader. */
const LANES = 32

const cycles: Check = {
  id: 'cycles',
  title: 'GPU cycles of a submission and of an empty poll',
  limitMs: 60_000,
  async run(context) {
    const { cuda, scale } = context
    cuda.loadKernels(context.kernels.measure)
    const region = new DriveRegion(context, 1)
    const scratch = cuda.allocDevice(64 * KIB)
    context.later(() => scratch.free())
    const run = cuda.allocPinned(4096)
    context.later(() => run.free())
    const stream = cuda.stream()
    context.later(() => stream.close())
    const words = new BigUint64Array(run.buffer)
    const gpu = (offset: number) => region.gpuPointer + BigInt(offset)
    const at = (part: number) => gpu(region.at(0, part))
    for (const batch of [1, DEPTH]) {
      // struct MeasureRun of kernels/measure.cuh.
      words.set([at(PAIR.sq), at(PAIR.cq), gpu(region.doorbell(0)), at(PAIR.data), scratch.gpuPointer])
      words.set([BigInt(ENTRIES), BigInt(scale.measureRounds), BigInt(batch), 0n, 0n], 5)
      // With Phase Tags of 0 in the first lap, there is no new completion.
      bytesOf(region.piece(region.at(0, PAIR.cq), 4 * KIB)).fill(0)
      cuda.launch('gpunvme_measure', 1, LANES, [run.gpuPointer], stream)
      await stream.finished(20e9)
      const [submissions, polls] = [Number(words[8]), Number(words[9])]
      if (submissions === 0 || polls === 0) fail('expected a number of cycles, got 0')
      const rung = (scale.measureRounds * batch) % ENTRIES
      equal('the last tail that was rung', region.load32(region.doorbell(0)), rung)
      const conditions = { rounds: scale.measureRounds, batch, lanes: LANES, queues: 'pinned host memory' }
      context.figure({
        ...{
          name: `submit-cycles-batch-${batch}`,
          unit: 'cycles',
          per: 'one command of 4 KiB, with its share of a doorbell write',
        },
        ...{ value: ratio(submissions, scale.measureRounds * batch), conditions },
      })
      if (batch === 1)
        context.figure({
          ...{ name: 'empty-poll-cycles', unit: 'cycles', per: 'one empty poll' },
          ...{ value: ratio(polls, scale.measureRounds), conditions },
        })
    }
    return { rounds: scale.measureRounds }
  },
}

interface Rate {
  readonly commandsPerSecond: number
  readonly commands: number
  readonly rings: number
}

/** Measures the original loop, with which the engine is compared, on a separate drive. */
async function originalRate(context: CheckContext, addon: DriveAddon): Promise<Rate> {
  const { cuda, scale } = context
  cuda.loadKernels(context.kernels.measure)
  const region = new DriveRegion(context, 1)
  const memory = cuda.allocPinned(4096)
  context.later(() => memory.free())
  const stream = cuda.stream()
  context.later(() => stream.close())
  const gpu = (offset: number) => region.gpuPointer + BigInt(offset)
  const doorbell = gpu(region.doorbell(0))
  const queueAt = 2048
  // struct OriginalQueue and struct OriginalRun of kernels/original.cuh.
  const queue = new DataView(memory.buffer, queueAt, 64)
  ;[gpu(region.at(0, PAIR.sq)), gpu(region.at(0, PAIR.cq)), doorbell, doorbell + 4n].forEach((word, index) =>
    queue.setBigUint64(8 * index, word, true),
  )
  ;[ENTRIES, 0, 0, 1, 0, 1, 512, 0].forEach((word, index) => queue.setUint32(32 + 4 * index, word, true))
  const run = new BigUint64Array(memory.buffer, 0, 8)
  const pages = BigInt(DEPTH)
  const commands = BigInt(scale.speedCommands)
  const data = region.address(region.at(0, PAIR.data))
  run.set([memory.gpuPointer + BigInt(queueAt), data, pages, commands, BigInt(DEPTH), 5_000_000_000n, 0n, 0n])
  const stop = region.serve(addon, 1)
  let counts: ReturnType<typeof stop>
  try {
    cuda.launch('gpunvme_original_read', 1, 1, [memory.gpuPointer], stream)
    await stream.finished(60e9)
  } finally {
    counts = stop()
  }
  equal('commands that succeeded', Number(run[6]), scale.speedCommands)
  equal('commands received by the drive', counts.commands, scale.speedCommands)
  return { commandsPerSecond: (scale.speedCommands * 1e9) / Number(run[7]), ...counts }
}

const speed: Check = {
  id: 'speed',
  title: 'Commands per second of the engine and of the original loop, on the same controller',
  limitMs: 120_000,
  async run(context) {
    const { scale } = context
    const addon = driveAddonOf(context)
    const original = await originalRate(context, addon)
    const engine = await runEngine(context, { pairs: 1, commandsPerPair: scale.speedCommands, threads: 1 })
    const conditions = {
      queueDepth: DEPTH,
      queuePairs: 1,
      commands: scale.speedCommands,
      controller: 'completes commands immediately, one thread',
    }
    const rate = (name: string, value: number) =>
      context.figure({ name, value: Math.round(value), unit: 'commands/s', per: '4 KiB reads', conditions })
    rate('engine-commands-per-second', engine.commandsPerSecond)
    rate('original-commands-per-second', original.commandsPerSecond)
    context.figure({
      ...{
        name: 'engine-over-original',
        unit: 'times',
        per: 'commands/s of the engine divided by commands/s of the original loop',
        conditions,
      },
      value: ratio(engine.commandsPerSecond, original.commandsPerSecond),
    })
    context.figure({
      ...{ name: 'engine-doorbell-writes', unit: 'doorbell writes', per: 'one command', conditions },
      value: ratio(engine.doorbellWrites, scale.speedCommands),
    })
    const counted = {
      engine: addon.count('engine', 4096, DEPTH),
      original: addon.count('original', 4096, DEPTH),
    }
    const all = ({ loads, stores, doorbells }: typeof counted.engine) => loads + stores + doorbells
    for (const which of ['engine', 'original'] as const)
      context.figure({
        ...{ name: `${which}-transactions`, unit: 'PCIe transactions', per: 'one 4 KiB read' },
        value: ratio(all(counted[which]), 4096),
        conditions: {
          ...conditions,
          counted: 'by the same code on a counting port, without empty polls',
        },
      })
    return {
      ringsSeen: { engine: engine.rings, original: original.rings },
      transactions: { engine: { ...counted.engine }, original: { ...counted.original } },
    }
  },
}

/** Costs of single steps and of whole commands. */
export const measureChecks: readonly Check[] = [cycles, speed]
