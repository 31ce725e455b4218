import {
  list,
  matching,
  number,
  object,
  oneOf,
  pair,
  text,
  UnfitValueError,
  whole,
  type Passed,
} from './checked-json.js'

// Types and checks of the results of `gpunvme bench`. Limits are above those of any run, and small enough to draw.

const MAX_SOURCES = 32
const MAX_CELLS = 4096
const MAX_REPEATS = 1000
const MAX_BUCKETS = 4096
const MAX_COMMANDS = 20_000

const name = text(64)
const line = text(300)
const paragraph = text(2000)
const positive = number(Number.MIN_VALUE)
const time = matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/, "a time such as '2026-11-22T18:00:00Z'")
const counter = matching(/^\d{1,39}$/, 'a decimal number as text')
const celsius = number(-273.15, 10_000)

const reason = object(
  {
    /** 'cuFile is not installed'. */
    reason: paragraph,
  },
  {
    /** Next step. */
    next: paragraph,
  },
)
export type BenchReason = Passed<typeof reason>

const counters = object({
  /** Thousands of 512 bytes. */
  dataUnitsRead: counter,
  dataUnitsWritten: counter,
  hostReadCommands: counter,
  hostWriteCommands: counter,
})
/** 128-bit counters as decimal strings. */
export type BenchCounters = Passed<typeof counters>

const latency = object(
  {
    minNs: number(0),
    maxNs: number(0),
    /** Upper edges in ns, rising, with the count above the previous edge; counts are above 0. */
    buckets: list(pair(number(0), whole(1)), MAX_BUCKETS),
  },
  {
    /** Present if latencies are those of plans. */
    commandsPerPlan: positive,
  },
  (passed, at) => {
    if (passed.minNs > passed.maxNs) throw new UnfitValueError(`${at}.maxNs`, 'at least minNs', passed.maxNs)
    passed.buckets.forEach(([upToNs], index) => {
      if (index > 0 && upToNs <= passed.buckets[index - 1]![0])
        throw new UnfitValueError(`${at}.buckets[${index}][0]`, 'more than the previous edge', upToNs)
    })
  },
)
export type BenchLatency = Passed<typeof latency>

const repeat = object(
  {
    /** Bytes moved by all jobs. */
    bytes: whole(0),
    /** Successful commands or calls. */
    commands: whole(0),
    seconds: number(1e-9),
  },
  {
    /** CPU time of the process, including system time. Absent in modelled time. */
    cpuSeconds: number(0),
    latency,
    /** Position among all repeats of the run, from 0. */
    turn: whole(0),
    /** Why it is an outlier: 'modified z-score 5.1'. It is included in means. */
    outlier: line,
    /**
     * Why this repeat is invalid: 'the drive counted 12 commands, but 4096 were sent'. It is excluded from all results.
     */
    problem: paragraph,
    /** SMART / Health Information (LID 02h). */
    counters: object({ before: counters, after: counters }),
    /** Composite Temperature. */
    temperatureCelsius: object({ before: celsius, after: celsius }),
    /** Time for which the drive throttled because of heat, by its Thermal Management counters. */
    throttledSeconds: number(0),
  },
)
export type BenchRepeat = Passed<typeof repeat>

const source = object(
  {
    /** 'cuda', 'cpu-kernel', 'host'; for a baseline 'io_uring', 'pread', 'cuFile'. */
    name,
    /** An engine of gpunvme, or a baseline: another path to the same data on the same device in the same run. */
    kind: oneOf('engine', 'baseline'),
    /** One line: 'TypeScript submits, the CPU rings the doorbells'. */
    description: line,
    /** Memory that reads write to, and writes read from. */
    memory: oneOf('host', 'gpu'),
    /** Unit of a latency: one NVMe command, a plan of several commands, or one system call. */
    latencyOf: oneOf('command', 'plan', 'call'),
  },
  {
    /** Why none of its cells could run. */
    missing: reason,
  },
)
/** Source of a measurement. */
export type BenchSource = Passed<typeof source>

const cell = object(
  {
    /** Name of its source. */
    source: name,
    rw: oneOf('read', 'write', 'mixed'),
    pattern: oneOf('sequential', 'random'),
    /** Bytes per command or call: `--bs`. */
    blockBytes: whole(1),
    /** Queue depth of each job: `--qd`. */
    depth: whole(1),
    /** `--numjobs`. */
    jobs: whole(1),
    /** In the order of execution; empty for a refused cell. */
    repeats: list(repeat, MAX_REPEATS),
  },
  {
    /** 'refused': it could not run. 'failed': it ran, but the result is invalid. */
    problem: object(
      {
        kind: oneOf('refused', 'failed'),
        /** 'cuFile is not installed'. */
        reason: paragraph,
      },
      {
        /** Next step. */
        next: paragraph,
      },
    ),
  },
)
export type BenchCell = Passed<typeof cell>

const command = object(
  {
    /** Identifier of the I/O queue, or number of the job. */
    queue: whole(0),
    startNs: number(0),
    endNs: number(0),
    bytes: whole(0),
  },
  {},
  ({ startNs, endNs }, at) => {
    if (endNs < startNs) throw new UnfitValueError(`${at}.endNs`, 'at least startNs', endNs)
  },
)
export type BenchCommand = Passed<typeof command>

const machine = object(
  {
    /** 'AMD Ryzen 7 3700X 8-Core Processor'. */
    cpu: line,
    /** Logical CPUs available to the process. */
    cpus: whole(1),
    /** 'Linux 6.8.0-45-generic'. */
    kernel: line,
    /** 'v20.20.2'. */
    node: line,
  },
  {
    /** Present if the run used one. */
    gpu: line,
  },
)
export type BenchMachine = Passed<typeof machine>

const drive = object(
  {
    model: line,
    firmware: line,
    capacityBytes: whole(0),
    /** LBA data size. */
    blockBytes: whole(1),
  },
  {
    /** Simulated drive: 'sn740'. Absent for a real drive. */
    profile: name,
    /** PCI address: '0000:0b:00.0'. */
    address: name,
    /** Last four characters of the serial number, to distinguish drives. */
    serialEnd: text(4),
    /** MDTS; absent if the drive has no limit. */
    maxTransferBytes: whole(1),
  },
)
export type BenchDrive = Passed<typeof drive>

const link = object({
  /** PCIe generation. */
  gen: whole(1, 9),
  /** Lanes. */
  width: whole(1, 32),
  /** Maximum Payload Size in bytes. */
  mps: whole(128, 4096),
  /** Payload limit of the link: `payloadLimit` of nvme-spec. */
  payloadLimitBytesPerSecond: positive,
})
export type BenchLink = Passed<typeof link>

const method = object(
  {
    repeats: whole(1),
    /** Area of the namespace. */
    span: object({ firstByte: whole(0), lengthBytes: whole(0) }),
    /** Seed of the random numbers. */
    seed: whole(0),
  },
  {
    /** Requested duration of a repeat, or bytes; one of the two. */
    secondsPerRepeat: positive,
    bytesPerRepeat: whole(1),
    /** Before each repeat; not measured. */
    warmUpSeconds: number(0),
    /** Pause between repeats. */
    coolDownSeconds: number(0),
    /** Criterion of outliers: 'a modified z-score above 3.5'. */
    outlierRule: line,
  },
)
export type BenchMethod = Passed<typeof method>

/** Name of the format. Fields may be added; a changed meaning requires a new number. */
export const BENCH_SCHEMA = 'gpunvme.bench/1'

/** Checks results: one JSON object, without names of the machine or its owner. Relations between fields are not checked. */
export const benchResults = object(
  {
    schema: oneOf(BENCH_SCHEMA),
    /** Version of gpunvme that measured. */
    version: name,
    /** The command line: 'gpunvme bench --bs 4KiB,1MiB --qd 1,32'. */
    command: paragraph,
    /** Start time: ISO 8601, UTC. */
    startedAt: time,
    /** Total wall time, including time that was not measured. */
    totalSeconds: number(0),
    /** Clock of `seconds` and latencies: the simulator's, or wall time. */
    time: oneOf('modelled', 'wall'),
    /** Transport of the drive: 'sim', 'vfio', 'kernel'. */
    transport: name,
    machine,
    drive,
    method,
    /** In the order of display; names are unique. */
    sources: list(source, MAX_SOURCES),
    /** At most one per source and setting. */
    cells: list(cell, MAX_CELLS),
    /** Notes needed to judge the numbers, one sentence each: 'The drive reached 71 °C and throttled.' */
    notes: list(paragraph, 100),
  },
  {
    /** The drive's link. Absent if unknown: rates then have no denominator. */
    link,
    /** For a file joined from several runs, since a drive cannot be bound to two drivers at once: the sources of each. */
    runs: list(object({ startedAt: time, sources: list(name, MAX_SOURCES) }), 100),
    /** Individual commands of one cell. */
    timeline: object({
      /** Index into `cells`. */
      cell: whole(0),
      /** Sorted by `startNs`, which is relative to the first command. */
      commands: list(command, MAX_COMMANDS),
    }),
  },
)
export type BenchResults = Passed<typeof benchResults>
