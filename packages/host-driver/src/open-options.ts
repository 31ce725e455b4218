import type { Engine } from '@gpunvme/nvme-spec/transport'
import { MOST_IN_FLIGHT } from './queues/command-ids.js'
import type { RecoveryLimits } from './recovery/recovery.js'
import { isTimeout, TIMEOUT_EXPECTED } from './wait.js'

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
   * reach - of the host engine, memory with a view. 'host' when not given.
   */
  readonly queueMemory?: 'host' | 'gpu'
  /** An upper bound for one command, below MDTS; 1 MiB when not given. Larger ones gain nothing, and cost PRP lists. */
  readonly maxTransferBytes?: number
  /** Who submits I/O. The host engine when not given. */
  readonly engine?: Engine
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
  /** For each admin command, and each I/O command that is no part of a plan. 10 s when not given. */
  readonly commandTimeoutNs?: number
  /** How long each step of a recovery may take; see `RecoveryLimits` for what holds when not given. */
  readonly recovery?: Partial<RecoveryLimits>
  /** Where /sys and /proc are, for the guard; '/' when not given. */
  readonly sysRoot?: string
}

export const DEFAULT_DEPTH = 32
export const DEFAULT_TRANSFER_BYTES = 1024 * 1024
export const DEFAULT_HOST_MEMORY_BYTES = 64 * 1024 * 1024

/** @throws RangeError naming the option, what was expected, and what was given. */
export function checkOptions(options: ControllerOptions): void {
  const { queues = 1, queueDepth = DEFAULT_DEPTH, maxTransferBytes = DEFAULT_TRANSFER_BYTES, recovery = {} } = options
  const { readyTimeoutNs, commandTimeoutNs, queueEntries, completionQueues } = options
  for (const [name, value] of Object.entries({ readyTimeoutNs, commandTimeoutNs, ...recovery })) {
    if (value !== undefined && !isTimeout(value)) throw new RangeError(`${name}: ${TIMEOUT_EXPECTED}, got ${value}`)
  }
  const expect = (name: string, value: number | undefined, from: number, to: number) => {
    if (value === undefined) return
    if (!Number.isInteger(value) || value < from || value > to) {
      throw new RangeError(`${name}: expected an integer from ${from} to ${to}, got ${value}`)
    }
  }
  expect('queues', queues, 1, 65_534)
  expect('queueDepth', queueDepth, 1, MOST_IN_FLIGHT)
  expect('queueEntries', queueEntries, 2, 65_536)
  expect('completionQueues', completionQueues, 1, queues)
  expect('hostMemoryBufferBytes', options.hostMemoryBufferBytes, 0, 2 ** 32)
  expect('maxTransferBytes', maxTransferBytes, 4096, 2 ** 32)
}
