import {
  BENCH_SCHEMA,
  type BenchCell,
  type BenchLatency,
  type BenchRepeat,
  type BenchResults,
  type BenchSource,
} from '../src/report/bench-results.js'

const GEN3_X4 = { gen: 3, width: 4, mps: 256, payloadLimitBytesPerSecond: 3_601_000_000 }

export const SOURCES = {
  cuda: {
    name: 'cuda',
    kind: 'engine',
    description: 'a GPU kernel submits and rings the doorbells',
    memory: 'gpu',
    latencyOf: 'command',
  },
  'cpu-kernel': {
    name: 'cpu-kernel',
    kind: 'engine',
    description: 'the same device code on a native thread',
    memory: 'host',
    latencyOf: 'command',
  },
  host: {
    name: 'host',
    kind: 'engine',
    description: 'TypeScript submits, the CPU rings the doorbells',
    memory: 'host',
    latencyOf: 'command',
  },
  io_uring: {
    name: 'io_uring',
    kind: 'baseline',
    description: "Linux's driver by io_uring and O_DIRECT, then a copy to the GPU",
    memory: 'gpu',
    latencyOf: 'call',
  },
} as const satisfies Record<string, BenchSource>

/** Deterministic pseudo-random numbers from 0 to 1 (linear congruential generator of Knuth). */
export function numbersFrom(seed: number): () => number {
  let state = BigInt(seed)
  return () => {
    state = (state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) & 0xffff_ffff_ffff_ffffn
    return Number(state >> 32n) / 2 ** 32
  }
}

interface Drawn {
  readonly source: string
  readonly blockBytes: number
  readonly depth: number
  readonly rw?: BenchCell['rw']
  readonly pattern?: BenchCell['pattern']
  /** Maximum rate of this source. */
  readonly maxBytesPerSecond: number
  /** Latency of a single command. */
  readonly minNs: number
  /** CPU seconds per command. */
  readonly cpuSecondsPerCommand?: number
  readonly repeats?: number
  /** Index of an outlier among repeats, if any. */
  readonly outlier?: number
}

/** Models a cell: its rate grows with the commands in flight, up to the maximum of the source. */
export function drawCell(drawn: Drawn, random: () => number): BenchCell {
  const { source, blockBytes, depth, rw = 'read', pattern = 'sequential', repeats = 5 } = drawn
  return {
    source,
    rw,
    pattern,
    blockBytes,
    depth,
    jobs: 1,
    repeats: Array.from({ length: repeats }, (_, index) => drawRepeat(drawn, random, index === drawn.outlier)),
  }
}

function drawRepeat(drawn: Drawn, random: () => number, isOutlier: boolean): BenchRepeat {
  const { blockBytes, depth, maxBytesPerSecond, cpuSecondsPerCommand } = drawn
  const transferNs = (blockBytes / maxBytesPerSecond) * 1e9
  const noise = (0.985 + 0.03 * random()) * (isOutlier ? 0.6 : 1)
  const perSecond = Math.min(1e9 / transferNs, (depth * 1e9) / (drawn.minNs + transferNs)) * noise
  const seconds = 2
  const commands = Math.round(perSecond * seconds)
  const meanNs = (depth * 1e9) / perSecond
  const bytes = commands * blockBytes
  return {
    bytes,
    commands,
    seconds,
    ...(cpuSecondsPerCommand !== undefined && { cpuSeconds: commands * cpuSecondsPerCommand }),
    latency: drawLatency(meanNs, Math.min(commands, 300), random),
    ...(isOutlier && { outlier: 'far from the others (modified z-score 9.4)' }),
    counters: {
      before: { dataUnitsRead: '8231004', dataUnitsWritten: '77', hostReadCommands: '99120', hostWriteCommands: '12' },
      after: {
        dataUnitsRead: String(8_231_004 + Math.ceil(bytes / 512_000)),
        dataUnitsWritten: '77',
        hostReadCommands: String(99_120 + commands),
        hostWriteCommands: '12',
      },
    },
    temperatureCelsius: { before: 41, after: 48 },
  }
}

function drawLatency(meanNs: number, count: number, random: () => number): BenchLatency {
  const buckets = new Map<number, number>()
  let minNs = Infinity
  let maxNs = 0
  for (let index = 0; index < count; index++) {
    const tail = random() < 0.01 ? 1 + 6 * random() ** 4 : 1
    const ns = Math.round(meanNs * (0.8 + 0.25 * (random() + random()) * random()) * tail)
    const upToNs = Math.ceil(2 ** (Math.ceil(Math.log2(ns) * 16) / 16))
    buckets.set(upToNs, (buckets.get(upToNs) ?? 0) + 1)
    minNs = Math.min(minNs, ns)
    maxNs = Math.max(maxNs, ns)
  }
  return { minNs, maxNs, buckets: [...buckets].sort(([a], [b]) => a - b) }
}

/** Minimal results: one cell of one engine in modelled time, without optional fields. */
export function oneCell(): BenchResults {
  const cell = drawCell(
    { source: 'host', blockBytes: 131_072, depth: 32, maxBytesPerSecond: 3.47e9, minNs: 80_000, repeats: 1 },
    numbersFrom(1),
  )
  return {
    schema: BENCH_SCHEMA,
    version: '0.1.0',
    command: 'gpunvme bench',
    startedAt: '2026-11-22T18:00:00Z',
    totalSeconds: 4.2,
    time: 'modelled',
    transport: 'sim',
    machine: {
      cpu: 'AMD Ryzen 7 3700X 8-Core Processor',
      cpus: 16,
      kernel: 'Linux 6.8.0-45-generic',
      node: 'v20.20.2',
    },
    drive: { model: 'WD PC SN740', firmware: 'SIM', capacityBytes: 512_110_190_592, blockBytes: 512 },
    method: { bytesPerRepeat: 268_435_456, repeats: 1, span: { firstByte: 0, lengthBytes: 268_435_456 }, seed: 1 },
    sources: [SOURCES.host],
    cells: [cell],
    notes: [],
  }
}

const SIZES = [4096, 16_384, 65_536, 131_072, 524_288, 1_048_576]
const DEPTHS = [1, 2, 4, 8, 16, 32]
const SPEEDS = {
  cuda: { maxBytesPerSecond: 3.49e9, minNs: 71_000, cpuSecondsPerCommand: 2e-9 },
  'cpu-kernel': { maxBytesPerSecond: 3.48e9, minNs: 73_000, cpuSecondsPerCommand: 6e-7 },
  host: { maxBytesPerSecond: 3.31e9, minNs: 96_000, cpuSecondsPerCommand: 9e-6 },
  io_uring: { maxBytesPerSecond: 3.05e9, minNs: 84_000, cpuSecondsPerCommand: 4e-6 },
}

const sweeps = new Map<string, readonly BenchCell[]>()

/** Generates the cells of `sweep`, once for each selection of patterns, since this takes longer than most tests. */
function sweepCells(patterns: readonly BenchCell['pattern'][]): readonly BenchCell[] {
  const key = patterns.join()
  const known = sweeps.get(key)
  if (known !== undefined) return known
  const random = numbersFrom(7)
  const cells = patterns.flatMap((pattern) =>
    (['cuda', 'cpu-kernel', 'host', 'io_uring'] as const).flatMap((source) =>
      SIZES.flatMap((blockBytes) =>
        DEPTHS.map((depth) => {
          const far = source === 'host' && blockBytes === 131_072 && depth === 32 ? { outlier: 3 } : {}
          return drawCell({ source, blockBytes, depth, pattern, ...SPEEDS[source], ...far }, random)
        }),
      ),
    ),
  )
  sweeps.set(key, cells)
  return cells
}

/** Three engines and a baseline, six block sizes by six depths, reads and random reads, five repeats, wall time. */
export function sweep(patterns: readonly BenchCell['pattern'][] = ['sequential']): BenchResults {
  const cells = sweepCells(patterns)
  const shown = cells.findIndex(({ blockBytes, depth }) => blockBytes === 131_072 && depth === 32)
  return {
    ...oneCell(),
    command: 'gpunvme bench --drive 0000:0b:00.0 --bs 4KiB,16KiB,64KiB,128KiB,512KiB,1MiB --qd 1,2,4,8,16,32',
    totalSeconds: 1741,
    time: 'wall',
    transport: 'vfio',
    machine: { ...oneCell().machine, gpu: 'NVIDIA GeForce RTX 3090' },
    drive: {
      model: 'WD PC SN740 SDDQNQD-512G',
      firmware: '73103012',
      serialEnd: '4711',
      capacityBytes: 512_110_190_592,
      blockBytes: 512,
      maxTransferBytes: 1_048_576,
    },
    link: GEN3_X4,
    method: {
      secondsPerRepeat: 2,
      repeats: 5,
      warmUpSeconds: 0.5,
      coolDownSeconds: 1,
      span: { firstByte: 0, lengthBytes: 68_719_476_736 },
      seed: 7,
    },
    sources: [SOURCES.cuda, SOURCES['cpu-kernel'], SOURCES.host, SOURCES.io_uring],
    cells,
    timeline: { cell: shown, commands: drawTimeline(131_072, 2, 16, 300, numbersFrom(3)) },
  }
}

/** Commands of several queues with a fixed number in flight in each. The drive completes them one at a time. */
export function drawTimeline(bytes: number, queues: number, inFlight: number, count: number, random: () => number) {
  const stepNs = (bytes / 3.49e9) * 1e9
  const free = Array.from({ length: queues * inFlight }, () => 0)
  const commands = Array.from({ length: count }, (_, index) => {
    const slot = index % free.length
    const startNs = Math.round(free[slot]! + 900 * random())
    const endNs = Math.round(Math.max(startNs + 70_000, (index + 1) * stepNs + 60_000 * random()))
    free[slot] = endNs
    return { queue: 1 + (slot % queues), startNs, endNs, bytes }
  })
  return commands.sort((a, b) => a.startNs - b.startNs)
}
