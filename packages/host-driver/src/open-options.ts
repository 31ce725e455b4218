import { MOST_IN_FLIGHT } from '@gpunvme/nvme-spec/engine'
import type { Engine, Transport } from '@gpunvme/nvme-spec/transport'
import {
  checkOptions,
  flag,
  having,
  integer,
  isObject,
  listOf,
  oneOf,
  record,
  show,
  text,
  timeout,
  type Checks,
} from './check-options.js'
import type { WriteRequest } from './guard/guard.js'
import type { RecoveryLimits } from './recovery/recovery.js'

export interface ControllerOptions {
  /** I/O queue pairs to ask for; the controller may allow fewer. 1 when not given. */
  readonly queues?: number
  /** Commands in flight on each of them. 32 when not given, and never more than the controller's queues hold. */
  readonly queueDepth?: number
  /** Entries of each submission queue, 2 to 65536; one more than `queueDepth` when not given. */
  readonly queueEntries?: number
  /** Completion queues that these submission queues share; one each when not given. */
  readonly completionQueues?: number
  /**
   * Where the rings and PRP lists of plans lie: `gpu` is Tier 3, and takes a transport whose GPU memory the engine can
   * reach: the host engine by its view, the engine `cuda` by its gpuPointer. Without a view it must have `fill`; without
   * `copyOut` too, a command that gets no answer has its queues created anew, as nobody can see what became of it.
   * 'host' when not given.
   */
  readonly queueMemory?: 'host' | 'gpu'
  /** An upper bound for one command, below MDTS; 1 MiB when not given. Larger ones gain nothing, and cost PRP lists. */
  readonly maxTransferBytes?: number
  /** Who submits I/O, made on the same transport. The host engine when not given. */
  readonly engine?: Engine
  /**
   * Allows an engine that was made on a transport which the given one wraps, as `traced` and `faulty` do: a wrapper then
   * sees nothing of the doorbells of I/O queues, and changes nothing of them. False when not given.
   */
  readonly engineBelow?: boolean
  /** Waits by an interrupt of the transport instead of polling. */
  readonly interrupts?: boolean
  /**
   * Whether commands may describe their data by SGLs where the controller takes them; true when not given. A transfer
   * of 1 MiB in one piece of memory then costs the host a tenth of what its PRP list costs.
   */
  readonly sgl?: boolean
  /**
   * Rings in host memory where the controller looks there by itself, as emulated ones may. False when not given: QEMU
   * 7.2 is slower by it with one command in flight and no quicker with 32, and no tracer sees what is rung there. An
   * engine other than the host engine must know `ShadowDoorbell`.
   */
  readonly shadowDoorbells?: boolean
  /** Most that is lent to a controller that asks for a Host Memory Buffer; 64 MiB when not given, 0 for none. */
  readonly hostMemoryBufferBytes?: number
  /** Leaves power state and autonomous transitions as they are; without it the drive is kept awake until `close`. */
  readonly keepPowerState?: boolean
  /** For each wait for CSTS.RDY; when not given, what the controller states in CAP.TO and CRTO, up to 30 s. */
  readonly readyTimeoutNs?: number
  /**
   * Time limit of each Admin command, and of each I/O command outside a plan. Default: 10 s. All Admin commands of `open`
   * together may take 60 s, or the time limit of one command if that is longer.
   */
  readonly commandTimeoutNs?: number
  /** How long each step of a recovery may take; see `RecoveryLimits` for what holds when not given. */
  readonly recovery?: Partial<RecoveryLimits>
  /** Where /sys and /proc are, for the guard; '/' when not given. */
  readonly sysRoot?: string
}

export const DEFAULT_DEPTH = 32
export const DEFAULT_TRANSFER_BYTES = 1024 * 1024
export const DEFAULT_HOST_MEMORY_BYTES = 64 * 1024 * 1024

const recoveryChecks: Checks<RecoveryLimits> = { abortNs: timeout, queuesNs: timeout, restartNs: timeout }
const writeChecks: Checks<WriteRequest> = { serial: text, overwrite: listOf('names', text) }

const checks: Checks<OpenOptions> = {
  queues: integer(1, 65_534),
  queueDepth: integer(1, MOST_IN_FLIGHT),
  queueEntries: integer(2, 65_536),
  completionQueues: integer(1, 65_534),
  queueMemory: oneOf('host', 'gpu'),
  maxTransferBytes: integer(4096, 2 ** 32),
  engine: having('an Engine, as HostEngine is', ['attach', 'execute', 'detach']),
  engineBelow: flag,
  interrupts: flag,
  sgl: flag,
  shadowDoorbells: flag,
  hostMemoryBufferBytes: integer(0, 2 ** 32),
  keepPowerState: flag,
  readyTimeoutNs: timeout,
  commandTimeoutNs: timeout,
  recovery: record(recoveryChecks),
  sysRoot: text,
  write: (name, value) => {
    record(writeChecks)(name, value)
    if ((value as Partial<WriteRequest>).serial === undefined) text(`${name}.serial`, undefined)
  },
  manage: flag,
}

/** Everything that `Controller.open` takes. */
export type OpenOptions = ControllerOptions & {
  readonly write?: WriteRequest | undefined
  readonly manage?: boolean | undefined
}

/** @throws TypeError, RangeError naming the option, what was expected, and what was given. */
export function checkOpenOptions(options: OpenOptions): void {
  checkOptions('Controller.open', options, checks)
  const { queues = 1, completionQueues = queues, manage, write } = options
  if (completionQueues > queues) integer(1, queues)('completionQueues', completionQueues)
  if (manage === true && write === undefined) {
    throw new TypeError('manage: expected { write: { serial } } beside it, got none')
  }
}

/** @throws TypeError for what is no transport: nothing was touched then. */
export function checkTransport(transport: Transport): void {
  const given: unknown = transport
  const isOne = isObject(given) && ['bar', 'dma', 'clock'].every((name) => isObject(given[name]))
  if (isOne) return
  const has = isObject(given) && 'transport' in given ? 'an object that has one: give its .transport' : show(given)
  throw new TypeError(`transport: expected a Transport, got ${has}`)
}
