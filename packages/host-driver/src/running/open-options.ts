import { MAX_IN_FLIGHT } from '@gpunvme/nvme-spec/engine'
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
} from '../check-options.js'
import type { FeatureOptions } from '../bring-up/setup-steps.js'
import type { WriteRequest } from '../guard/guard.js'
import { innermost } from '../memory/innermost.js'
import type { RecoveryLimits } from '../recovery/recovery.js'
import { transportClosed } from './errors.js'

/** Options of `Controller.open` for the I/O queues of plans. */
export interface QueueOptions {
  /** Number of I/O queue pairs to request; the controller may grant fewer. Default: 1. */
  readonly queues?: number
  /**
   * Maximum number of commands in flight per queue pair, 1 to 4095. Default: 32. The limit is that of this driver,
   * `MAX_IN_FLIGHT` of `@gpunvme/nvme-spec/engine`: a command identifier has 16 bits (Base 2.1 §4.1.1), and four of
   * them distinguish a late completion from that of the next command in the same slot. NVMe allows 65,535 commands in a
   * queue. Above what the controller's queues hold (CAP.MQES), fewer commands are in flight: see
   * `Controller.queueDepth`. For more commands in flight, raise `queues`.
   */
  readonly queueDepth?: number
  /**
   * Entries of each submission queue, 2 to 65536, at most what CAP.MQES allows. Default: the smallest power of two
   * above `queueDepth`, or the largest that CAP.MQES allows. A completion queue that is not shared has as many.
   */
  readonly queueEntries?: number
  /** Number of completion queues that the submission queues share. Default: one each. */
  readonly completionQueues?: number
  /**
   * Location of the rings and PRP lists of plans. `gpu` is tier 3; it needs a transport with GPU memory that the engine
   * can access: the host engine by its view, the engine `cuda` by its gpuPointer. Memory without a view must have
   * `fill`. If it has no `copyOut` either, late completions cannot be read, and a recovery recreates the queues instead
   * of sending Abort. Default: 'host'.
   */
  readonly queueMemory?: 'host' | 'gpu'
}

/** Options of `Controller.open` for the execution of plans. */
export interface EngineOptions {
  /** Engine that submits I/O, made on the same transport. Default: the host engine. */
  readonly engine?: Engine
  /**
   * Allows an engine that was made on a transport which the given one wraps, as `traced` and `faulty` do. The wrapper
   * then neither observes nor changes doorbells of I/O queues. Default: false.
   */
  readonly allowInnerEngine?: boolean
  /** Waits for an interrupt of the transport instead of polling. Default: false. */
  readonly interrupts?: boolean
  /**
   * Maximum transfer of one command in bytes, also limited by MDTS. Larger ones gain nothing and need larger PRP lists.
   * Default: 1 MiB.
   */
  readonly maxTransferBytes?: number
  /**
   * Whether commands may describe their data by SGLs if the controller supports them. A transfer of 1 MiB in one
   * segment then costs the host a tenth of the cost of a PRP list. Default: true.
   */
  readonly sgl?: boolean
}

/** Time limits of `Controller.open`, in nanoseconds. */
export interface TimeLimits {
  /** Time limit of each wait for CSTS.RDY. Default: what the controller states in CAP.TO and CRTO, up to 30 s. */
  readonly readyTimeoutNs?: number
  /**
   * Time limit of each command, except where a call or a plan has its own `timeoutNs`. Default: 10 s. All Admin
   * commands of `open` together may take 60 s, or the time limit of one command if that is longer.
   */
  readonly commandTimeoutNs?: number
  /** Time limits of the steps of a recovery; a missing one has its default. */
  readonly recovery?: Partial<RecoveryLimits>
}

/** Options of `Controller.open`. */
export interface ControllerOptions extends QueueOptions, EngineOptions, TimeLimits, FeatureOptions {
  /** Directory with sys/, proc/, dev/ and etc/, for the guard. Default: '/'. */
  readonly sysRoot?: string
}

export const DEFAULT_DEPTH = 32
export const DEFAULT_TRANSFER_BYTES = 1024 * 1024

const recoveryChecks: Checks<RecoveryLimits> = { abortNs: timeout, queuesNs: timeout, restartNs: timeout }
const writeChecks: Checks<WriteRequest> = { serial: text, overwrite: listOf('names', text) }

const checks: Checks<OpenOptions> = {
  queues: integer(1, 65_534),
  queueDepth: integer(
    1,
    MAX_IN_FLIGHT,
    `an integer from 1 to ${MAX_IN_FLIGHT}, the most that 16-bit command identifiers can tell apart ` +
      '(for more commands in flight, raise `queues`)',
  ),
  queueEntries: integer(2, 65_536),
  completionQueues: integer(1, 65_534),
  queueMemory: oneOf('host', 'gpu'),
  maxTransferBytes: integer(4096, 2 ** 32),
  engine: having('an Engine, as HostEngine is', ['attach', 'execute', 'detach']),
  allowInnerEngine: flag,
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

/** All options of `Controller.open`. */
export type OpenOptions = ControllerOptions & {
  readonly write?: WriteRequest | undefined
  readonly manage?: boolean | undefined
}

/** Checks the options. @throws TypeError, RangeError that names the option, the expected and the actual value. */
export function checkOpenOptions(options: OpenOptions): void {
  checkOptions('Controller.open', options, checks)
  const { queues = 1, completionQueues = queues, manage, write } = options
  if (completionQueues > queues) integer(1, queues)('completionQueues', completionQueues)
  if (manage === true && write === undefined) {
    throw new TypeError('manage: requires { write: { serial } }')
  }
}

/**
 * Checks a transport before anything is accessed.
 * @throws TypeError if it is not a Transport; DriverError (TRANSPORT_CLOSED).
 */
export function checkTransport(transport: Transport): void {
  const given: unknown = transport
  const isOne = isObject(given) && ['bar', 'dma', 'clock'].every((name) => isObject(given[name]))
  if (isOne) {
    if (innermost(transport).isClosed?.() === true) throw transportClosed(transport.name)
    return
  }
  const has = isObject(given) && 'transport' in given ? 'an object that has one: pass its .transport' : show(given)
  throw new TypeError(`transport: expected a Transport, got ${has}`)
}

/**
 * Checks that an engine was made on the given transport. Otherwise it would ring doorbells of another device, or bypass
 * a wrapper, which could then neither trace doorbells nor inject faults.
 * @throws TypeError before anything is accessed.
 */
export function checkEngine(transport: Transport, { engine, allowInnerEngine = false }: OpenOptions): void {
  if (engine?.transport === undefined) return
  const { bar } = engine.transport
  if (transport.bar === bar) return
  const below = isBelow(transport, bar)
  if (below && allowInnerEngine) return
  const { name } = transport
  const expected = `engine: expected one made on transport ${name}`
  if (!below) {
    throw new TypeError(`${expected}, got '${engine.name}' on another device; a wrapper must set \`wraps\``)
  }
  throw new TypeError(
    `${expected}, got '${engine.name}' on the transport below it, which bypasses the wrapper: open the wrapped ` +
      'transport, omit `engine` to use the host engine, or pass { allowInnerEngine: true }',
  )
}

function isBelow({ wraps }: Transport, bar: Transport['bar']): boolean {
  return wraps !== undefined && (wraps.bar === bar || isBelow(wraps, bar))
}
