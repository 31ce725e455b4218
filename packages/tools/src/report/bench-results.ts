/**
 * What `gpunvme bench` leaves behind: one JSON object, `gpunvme.bench/1`. Fields may be added to it; one that changes
 * its meaning gets a new number. Nothing in it names the machine or its owner.
 */
export const BENCH_SCHEMA = 'gpunvme.bench/1'

export interface BenchResults {
  readonly schema: typeof BENCH_SCHEMA
  /** The version of gpunvme that measured. */
  readonly version: string
  /** What was typed: 'gpunvme bench --bs 4KiB,1MiB --qd 1,32'. */
  readonly command: string
  /** When it began: ISO 8601, UTC. */
  readonly startedAt: string
  /** How long all of it took, by the wall's clock, with what was not measured. */
  readonly totalSeconds: number
  /** Whose clock `seconds` and latencies go by: the simulator's, or the wall's. */
  readonly time: 'modelled' | 'wall'
  /** How the drive was reached: 'sim', 'vfio', 'kernel'. */
  readonly transport: string
  readonly machine: BenchMachine
  readonly drive: BenchDrive
  /** The drive's link. Left out where it is not known: then no rate has a denominator. */
  readonly link?: BenchLink
  readonly method: BenchMethod
  /** In the order in which they are to be shown; names are unique. */
  readonly sources: readonly BenchSource[]
  /** No two of one source and one setting. */
  readonly cells: readonly BenchCell[]
  /** The commands of a moment of one cell. */
  readonly timeline?: BenchTimeline
  /** Of a file that was made of several runs: what each of them measured. */
  readonly runs?: readonly BenchRun[]
  /** What a reader has to know to judge the numbers, a sentence each: 'The drive reached 71 °C and slowed down.' */
  readonly notes: readonly string[]
}

/** One of several runs, one after the other: a drive is not in two drivers at once. */
export interface BenchRun {
  readonly startedAt: string
  /** The names of those that it measured. */
  readonly sources: readonly string[]
}

export interface BenchMachine {
  /** 'AMD Ryzen 7 3700X 8-Core Processor'. */
  readonly cpu: string
  /** Logical ones that the process might use. */
  readonly cpus: number
  /** 'Linux 6.8.0-45-generic'. */
  readonly kernel: string
  /** 'v20.20.2'. */
  readonly node: string
  /** Where there is one that the run used. */
  readonly gpu?: string
}

export interface BenchDrive {
  readonly model: string
  readonly firmware: string
  /** What the simulator simulated: 'sn740'. Left out for a real drive. */
  readonly profile?: string
  /** On the bus: '0000:0b:00.0'. */
  readonly address?: string
  /** The last four characters of the serial number, enough to tell two drives of one owner apart. */
  readonly serialEnd?: string
  readonly capacityBytes: number
  /** LBA data size. */
  readonly blockBytes: number
  /** MDTS; left out where the drive has no limit. */
  readonly maxTransferBytes?: number
}

export interface BenchLink {
  /** PCIe generation. */
  readonly gen: number
  /** Lanes. */
  readonly width: number
  /** Maximum Payload Size in bytes. */
  readonly mps: number
  /** What the link can carry of data at most: `payloadLimit` of nvme-spec. */
  readonly payloadLimitBytesPerSecond: number
}

export interface BenchMethod {
  /** How long a repeat was to be measured, or how much it was to move; one of both. */
  readonly secondsPerRepeat?: number
  readonly bytesPerRepeat?: number
  readonly repeats: number
  /** Before each repeat, and not measured. */
  readonly warmUpSeconds?: number
  /** Between repeats. */
  readonly coolDownSeconds?: number
  /** What part of the namespace was touched. */
  readonly span: { readonly firstByte: number; readonly lengthBytes: number }
  /** Of the random numbers. */
  readonly seed: number
  /** What makes a repeat an outlier: 'a modified z-score above 3.5'. */
  readonly outlierRule?: string
}

/** Who moved the bytes. */
export interface BenchSource {
  /** 'cuda', 'cpu-kernel', 'host'; of a baseline 'io_uring', 'pread', 'cuFile'. */
  readonly name: string
  /** One of ours, or what it is compared with: another way to the same bytes on the same device, in the same run. */
  readonly kind: 'engine' | 'baseline'
  /** One line: 'TypeScript submits, the CPU rings the doorbells'. */
  readonly description: string
  /** Where the bytes of a read land, or those of a write come from. */
  readonly memory: 'host' | 'gpu'
  /** What a latency is the latency of: one NVMe command, a plan of several, or one call of the system. */
  readonly latencyOf: 'command' | 'plan' | 'call'
  /** Why none of its cells could run at all. */
  readonly missing?: BenchReason
}

export interface BenchReason {
  /** 'cuFile is not installed'. */
  readonly reason: string
  /** What to do about it. */
  readonly next?: string
}

export interface BenchCell {
  /** The name of its source. */
  readonly source: string
  readonly rw: 'read' | 'write' | 'mixed'
  readonly pattern: 'sequential' | 'random'
  /** Of one command or call: `--bs`. */
  readonly blockBytes: number
  /** Of each job: `--qd`. */
  readonly depth: number
  /** `--numjobs`. */
  readonly jobs: number
  /** In the order in which they ran; none in a cell that was refused. */
  readonly repeats: readonly BenchRepeat[]
  /** 'refused': it could not run. 'failed': it ran, and what it measured is not to be believed. */
  readonly problem?: BenchReason & { readonly kind: 'refused' | 'failed' }
}

export interface BenchRepeat {
  /** Moved, by all jobs together. */
  readonly bytes: number
  /** Commands or calls that ended well. */
  readonly commands: number
  readonly seconds: number
  /** CPU time of the process and of the kernel for it. Left out where the time is the model's. */
  readonly cpuSeconds?: number
  readonly latency?: BenchLatency
  /** Which of all repeats of the run it was, counted from 0 in the order in which they ran. */
  readonly turn?: number
  /** Why it is marked as far from the others: 'modified z-score 5.1'. It counts in means all the same. */
  readonly outlier?: string
  /** Why this repeat is not to be believed: 'the drive counted 12 commands, 4096 were asked for'. It counts in nothing. */
  readonly problem?: string
  /** SMART / Health Information (LID 02h). */
  readonly counters?: { readonly before: BenchCounters; readonly after: BenchCounters }
  /** Composite Temperature. */
  readonly temperatureCelsius?: { readonly before: number; readonly after: number }
  /** How long the drive held itself back for heat meanwhile, by its Thermal Management counters. */
  readonly throttledSeconds?: number
}

export interface BenchLatency {
  /** Where a latency is that of a plan. */
  readonly commandsPerPlan?: number
  readonly leastNs: number
  readonly mostNs: number
  /** Upper edge in ns and how many were at most that and above the edge before; edges rise, counts are above 0. */
  readonly buckets: readonly (readonly [upToNs: number, count: number])[]
}

/** 128-bit counters, as decimal text. */
export interface BenchCounters {
  /** Thousands of 512 bytes. */
  readonly dataUnitsRead: string
  readonly dataUnitsWritten: string
  readonly hostReadCommands: string
  readonly hostWriteCommands: string
}

export interface BenchTimeline {
  /** Which of `cells`. */
  readonly cell: number
  /** Sorted by `startNs`, which is counted from the first of them. */
  readonly commands: readonly BenchCommand[]
}

export interface BenchCommand {
  /** The I/O queue's identifier, or the number of the job. */
  readonly queue: number
  readonly startNs: number
  readonly endNs: number
  readonly bytes: number
}
