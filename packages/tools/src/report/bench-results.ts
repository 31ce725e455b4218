/**
 * Results of `gpunvme bench`: one JSON object, `gpunvme.bench/1`. Fields may be added; a changed meaning requires a new
 * number. It contains no names of the machine or its owner.
 */
export const BENCH_SCHEMA = 'gpunvme.bench/1'

export interface BenchResults {
  readonly schema: typeof BENCH_SCHEMA
  /** Version of gpunvme that measured. */
  readonly version: string
  /** The command line: 'gpunvme bench --bs 4KiB,1MiB --qd 1,32'. */
  readonly command: string
  /** Start time: ISO 8601, UTC. */
  readonly startedAt: string
  /** Total wall time, including time that was not measured. */
  readonly totalSeconds: number
  /** Clock of `seconds` and latencies: the simulator's, or wall time. */
  readonly time: 'modelled' | 'wall'
  /** Transport of the drive: 'sim', 'vfio', 'kernel'. */
  readonly transport: string
  readonly machine: BenchMachine
  readonly drive: BenchDrive
  /** The drive's link. Absent if unknown: rates then have no denominator. */
  readonly link?: BenchLink
  readonly method: BenchMethod
  /** In the order of display; names are unique. */
  readonly sources: readonly BenchSource[]
  /** At most one per source and setting. */
  readonly cells: readonly BenchCell[]
  /** Individual commands of one cell. */
  readonly timeline?: BenchTimeline
  /** For a file joined from several runs: the sources of each. */
  readonly runs?: readonly BenchRun[]
  /** Notes needed to judge the numbers, one sentence each: 'The drive reached 71 °C and throttled.' */
  readonly notes: readonly string[]
}

/** One of several consecutive runs: a drive cannot be bound to two drivers at once. */
export interface BenchRun {
  readonly startedAt: string
  /** Names of the measured sources. */
  readonly sources: readonly string[]
}

export interface BenchMachine {
  /** 'AMD Ryzen 7 3700X 8-Core Processor'. */
  readonly cpu: string
  /** Logical CPUs available to the process. */
  readonly cpus: number
  /** 'Linux 6.8.0-45-generic'. */
  readonly kernel: string
  /** 'v20.20.2'. */
  readonly node: string
  /** Present if the run used one. */
  readonly gpu?: string
}

export interface BenchDrive {
  readonly model: string
  readonly firmware: string
  /** Simulated drive: 'sn740'. Absent for a real drive. */
  readonly profile?: string
  /** PCI address: '0000:0b:00.0'. */
  readonly address?: string
  /** Last four characters of the serial number, to distinguish drives. */
  readonly serialEnd?: string
  readonly capacityBytes: number
  /** LBA data size. */
  readonly blockBytes: number
  /** MDTS; absent if the drive has no limit. */
  readonly maxTransferBytes?: number
}

export interface BenchLink {
  /** PCIe generation. */
  readonly gen: number
  /** Lanes. */
  readonly width: number
  /** Maximum Payload Size in bytes. */
  readonly mps: number
  /** Payload limit of the link: `payloadLimit` of nvme-spec. */
  readonly payloadLimitBytesPerSecond: number
}

export interface BenchMethod {
  /** Requested duration of a repeat, or bytes; one of the two. */
  readonly secondsPerRepeat?: number
  readonly bytesPerRepeat?: number
  readonly repeats: number
  /** Before each repeat; not measured. */
  readonly warmUpSeconds?: number
  /** Pause between repeats. */
  readonly coolDownSeconds?: number
  /** Area of the namespace. */
  readonly span: { readonly firstByte: number; readonly lengthBytes: number }
  /** Seed of the random numbers. */
  readonly seed: number
  /** Criterion of outliers: 'a modified z-score above 3.5'. */
  readonly outlierRule?: string
}

/** Source of a measurement. */
export interface BenchSource {
  /** 'cuda', 'cpu-kernel', 'host'; for a baseline 'io_uring', 'pread', 'cuFile'. */
  readonly name: string
  /** An engine of gpunvme, or a baseline: another path to the same data on the same device in the same run. */
  readonly kind: 'engine' | 'baseline'
  /** One line: 'TypeScript submits, the CPU rings the doorbells'. */
  readonly description: string
  /** Memory that reads write to, and writes read from. */
  readonly memory: 'host' | 'gpu'
  /** Unit of a latency: one NVMe command, a plan of several commands, or one system call. */
  readonly latencyOf: 'command' | 'plan' | 'call'
  /** Why none of its cells could run. */
  readonly missing?: BenchReason
}

export interface BenchReason {
  /** 'cuFile is not installed'. */
  readonly reason: string
  /** Next step. */
  readonly next?: string
}

export interface BenchCell {
  /** Name of its source. */
  readonly source: string
  readonly rw: 'read' | 'write' | 'mixed'
  readonly pattern: 'sequential' | 'random'
  /** Bytes per command or call: `--bs`. */
  readonly blockBytes: number
  /** Queue depth of each job: `--qd`. */
  readonly depth: number
  /** `--numjobs`. */
  readonly jobs: number
  /** In the order of execution; empty for a refused cell. */
  readonly repeats: readonly BenchRepeat[]
  /** 'refused': it could not run. 'failed': it ran, but the result is invalid. */
  readonly problem?: BenchReason & { readonly kind: 'refused' | 'failed' }
}

export interface BenchRepeat {
  /** Bytes moved by all jobs. */
  readonly bytes: number
  /** Successful commands or calls. */
  readonly commands: number
  readonly seconds: number
  /** CPU time of the process, including system time. Absent in modelled time. */
  readonly cpuSeconds?: number
  readonly latency?: BenchLatency
  /** Position among all repeats of the run, from 0. */
  readonly turn?: number
  /** Why it is an outlier: 'modified z-score 5.1'. It is included in means. */
  readonly outlier?: string
  /**
   * Why this repeat is invalid: 'the drive counted 12 commands, but 4096 were sent'. It is excluded from all results.
   */
  readonly problem?: string
  /** SMART / Health Information (LID 02h). */
  readonly counters?: { readonly before: BenchCounters; readonly after: BenchCounters }
  /** Composite Temperature. */
  readonly temperatureCelsius?: { readonly before: number; readonly after: number }
  /** Time for which the drive throttled because of heat, by its Thermal Management counters. */
  readonly throttledSeconds?: number
}

export interface BenchLatency {
  /** Present if latencies are those of plans. */
  readonly commandsPerPlan?: number
  readonly leastNs: number
  readonly mostNs: number
  /** Upper edges in ns, rising, with the count above the previous edge; counts are above 0. */
  readonly buckets: readonly (readonly [upToNs: number, count: number])[]
}

/** 128-bit counters as decimal strings. */
export interface BenchCounters {
  /** Thousands of 512 bytes. */
  readonly dataUnitsRead: string
  readonly dataUnitsWritten: string
  readonly hostReadCommands: string
  readonly hostWriteCommands: string
}

export interface BenchTimeline {
  /** Index into `cells`. */
  readonly cell: number
  /** Sorted by `startNs`, which is relative to the first command. */
  readonly commands: readonly BenchCommand[]
}

export interface BenchCommand {
  /** Identifier of the I/O queue, or number of the job. */
  readonly queue: number
  readonly startNs: number
  readonly endNs: number
  readonly bytes: number
}
