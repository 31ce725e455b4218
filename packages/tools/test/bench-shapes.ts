import type { BenchCell, BenchRepeat, BenchResults } from '../src/report/bench-results.js'
import { drawCell, drawTimeline, numbersFrom, oneCell, SOURCES, sweep } from './bench-results.js'

/** A sweep with rejected engines, cells that failed checks, and outliers among repeats. */
export function mixedFailures(): BenchResults {
  const whole = sweep()
  const cells = whole.cells.map((cell, index): BenchCell => {
    if (cell.source === 'cuda' && cell.blockBytes > 524_288)
      return {
        ...cell,
        repeats: [],
        problem: {
          kind: 'refused',
          reason: '1 MiB is more than one command may transfer: MDTS is 512 KiB',
          next: '--bs 512KiB, or less',
        },
      }
    if (cell.source === 'host' && cell.depth === 16)
      return {
        ...cell,
        problem: { kind: 'failed', reason: 'the drive counted 12 commands, 53,612 were asked for' },
      }
    if (index % 7 === 0) {
      const repeats = cell.repeats.map((repeat, turn): BenchRepeat =>
        turn === 2 ? { ...repeat, problem: 'the kernel did not execute' } : { ...repeat, turn },
      )
      return { ...cell, repeats }
    }
    return cell
  })
  const cuFile = {
    name: 'cuFile',
    kind: 'baseline',
    description: "NVIDIA's GPUDirect Storage",
    memory: 'gpu',
    latencyOf: 'call',
    missing: { reason: 'libcufile.so.0 is not installed', next: 'apt install libcufile-12-4' },
  } as const
  return {
    ...whole,
    sources: [...whole.sources, cuFile],
    cells,
    notes: ['The drive reached 71 °C in the last minute of the run.', 'Power management of the link (ASPM) was on.'],
    runs: [
      { startedAt: '2026-11-22T18:00:00Z', sources: ['cuda', 'cpu-kernel', 'host'] },
      { startedAt: '2026-11-22T18:40:00Z', sources: ['io_uring'] },
    ],
  }
}

function without<T extends object, K extends keyof T & string>(object: T, key: K): Omit<T, K> {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key)) as Omit<T, K>
}

/** Results of the simulator: modelled time, no CPU time, a profile and its link. */
export function modelled(): BenchResults {
  const { link, cells, timeline } = sweep(['sequential', 'random'])
  return {
    ...oneCell(),
    command: 'gpunvme bench --engines host --bs 4KiB,128KiB,1MiB --qd 1,8,32',
    drive: { ...oneCell().drive, profile: 'sn740', maxTransferBytes: 1_048_576 },
    ...(link !== undefined && { link }),
    sources: [SOURCES.host],
    cells: cells
      .filter(({ source }) => source === 'host')
      .map((cell) => ({ ...cell, repeats: cell.repeats.map((repeat) => without(repeat, 'cpuSeconds')) })),
    ...(timeline !== undefined && { timeline: { ...timeline, cell: 0 } }),
  }
}

/** The largest and smallest values that the format allows. */
export function hugeNumbers(): BenchResults {
  const max = Number.MAX_SAFE_INTEGER
  const cell = (source: string, blockBytes: number, depth: number, repeat: BenchRepeat): BenchCell => ({
    source,
    rw: 'read',
    pattern: 'random',
    blockBytes,
    depth,
    jobs: max,
    repeats: [repeat, { ...repeat, seconds: repeat.seconds * 3, outlier: 'far from the others' }],
  })
  const latency = { minNs: 0, maxNs: max, buckets: [[1, 1] as const, [max, max - 1] as const] }
  const large = { bytes: max, commands: max, seconds: 1e-9, cpuSeconds: max, latency }
  const small = { bytes: 1, commands: 1, seconds: max, cpuSeconds: 1e-300, latency }
  return {
    ...sweep(),
    totalSeconds: max,
    drive: { ...oneCell().drive, capacityBytes: max, blockBytes: max },
    link: { gen: 9, width: 32, mps: 4096, payloadLimitBytesPerSecond: 1e-3 },
    cells: [
      cell('cuda', max, max, large),
      cell('cuda', max, 1, large),
      cell('cuda', 1, max, small),
      cell('host', max, max, small),
      cell('io_uring', max, max, { ...small, cpuSeconds: 0 }),
    ],
    timeline: {
      cell: 0,
      commands: Array.from({ length: 900 }, (_, index) => ({
        queue: index % 70,
        startNs: index * 1e12,
        endNs: max,
        bytes: max,
      })),
    },
  }
}

export const HOSTILE = [
  '</script><script>window.hacked = 1</script>',
  '<img src=x onerror="window.hacked = 1">',
  '"><svg onload=window.hacked=1>',
  '<!--<script>',
  '</style><style>* { display: none }',
  '\u202egnp.exe\u202c \u2066abc',
  '=HYPERLINK("http://127.0.0.1/")',
  '| a | `b` **c** [d](javascript:e)',
  "' onmouseover='window.hacked=1",
  'W'.repeat(300),
  'שם של כונן',
  '\u0000\u001b[31m\u2028\ud800',
] as const

/** Malicious texts, and texts that are hard to draw, in all fields. */
export function hostileTexts(): BenchResults {
  const [script, image, svg, comment, style, bidi, formula, markdown, quote, long, hebrew, control] = HOSTILE
  const sources = [script, bidi, hebrew, 'W'.repeat(64)].map((name, index) => ({
    ...Object.values(SOURCES)[index]!,
    name: name.slice(0, 64),
    description: [image, style, long, control][index]!,
  }))
  const random = numbersFrom(5)
  const cells = sources.flatMap(({ name }) =>
    [4096, 131_072].flatMap((blockBytes) =>
      [1, 8].map((depth) =>
        drawCell({ source: name, blockBytes, depth, maxBytesPerSecond: 3e9, minNs: 80_000, repeats: 3 }, random),
      ),
    ),
  )
  cells[0] = { ...cells[0]!, repeats: [], problem: { kind: 'refused', reason: long + script, next: image } }
  return {
    ...sweep(),
    version: comment,
    command: `gpunvme bench ${HOSTILE.join(' ')}`,
    transport: formula,
    machine: { cpu: script, cpus: 1, kernel: svg, node: markdown, gpu: long },
    drive: { model: long, firmware: hebrew, serialEnd: '<b>"', capacityBytes: 0, blockBytes: 1, address: quote },
    sources,
    cells,
    timeline: { cell: 1, commands: drawTimeline(4096, 2, 4, 40, random) },
    notes: [...HOSTILE],
  }
}

/** No cell ran at all. */
export function nothingMeasured(): BenchResults {
  const rest = without(mixedFailures(), 'timeline')
  return {
    ...rest,
    cells: rest.cells.map((cell) => ({
      ...cell,
      repeats: [],
      problem: { kind: 'refused', reason: 'the drive is in use: ext4 is mounted from it', next: 'gpunvme list' },
    })),
  }
}

/** More sources than colours, several jobs, reads, writes and both. */
export function manySources(): BenchResults {
  const random = numbersFrom(11)
  const sources = Array.from({ length: 9 }, (_, index) => ({
    ...Object.values(SOURCES)[index % 4]!,
    name: `source-${index + 1}`,
  }))
  const cells = (['read', 'write', 'mixed'] as const).flatMap((rw) =>
    sources.flatMap(({ name }, index) =>
      [16_384, 262_144].flatMap((blockBytes) =>
        [1, 8, 64].map((depth) => {
          const maxBytesPerSecond = (rw === 'write' ? 2.1e9 : 3.4e9) * (1 - index * 0.06)
          const minNs = 60_000 + 9000 * index
          const cpu = { cpuSecondsPerCommand: 1e-6 * (index + 1) }
          const drawn = { source: name, rw, blockBytes, depth, maxBytesPerSecond, minNs, repeats: 3, ...cpu }
          return { ...drawCell(drawn, random), jobs: 4 }
        }),
      ),
    ),
  )
  return { ...sweep(), sources, cells, timeline: { cell: 3, commands: drawTimeline(16_384, 16, 8, 700, random) } }
}
