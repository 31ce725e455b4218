/** An engine takes over queue pairs, submits the commands of plans and reports their outcomes. */
import type { OutcomeSummary, Plan } from './plan.js'
import type { DmaMemory, Transport } from './transport.js'

/**
 * Position of a doorbell in the Shadow Doorbell and EventIdx buffers, which a controller polls in host memory instead
 * of its registers (Base 2.1 §5.2.5).
 */
export interface ShadowDoorbell {
  /** The host writes the doorbell's value here. */
  readonly shadow: DmaMemory
  /** The controller writes here up to which value it polls without a register write. */
  readonly eventIdx: DmaMemory
  /** Byte offset of this doorbell in both buffers. */
  readonly offsetBytes: number
}

/** The ring of a completion queue, and its position. One or more submission queues complete to it. */
export interface CompletionQueueMemory {
  readonly cqid: number
  readonly entries: number
  readonly memory: DmaMemory
  /** Byte offset of the doorbell in BAR0. */
  readonly headDoorbell: number
  readonly shadow?: ShadowDoorbell
  /** Position in the ring. It is kept across engines, for as long as the controller's queue exists. */
  head: number
  phase: 0 | 1
}

/** The rings of a queue pair, and their positions. host-driver passes them to an engine and takes them back. */
export interface QueuePairMemory {
  readonly qid: number
  readonly sqEntries: number
  readonly sq: DmaMemory
  /** The completion queue; pairs with the same `cq` object share it. */
  readonly cq: CompletionQueueMemory
  /**
   * Maximum number of commands in flight: neither the submission queue nor the completion queue, with all pairs that
   * share it, can overflow.
   */
  readonly maxInFlight: number
  /** PRP list pages: `prpListBytes` for each command in flight. */
  readonly prpLists: DmaMemory
  readonly prpListBytes: number
  /** Memory page size of CC.MPS, the unit of PRP entries. */
  readonly pageBytes: number
  /** Present if commands may use SGLs instead of PRPs: the required alignment of data addresses. */
  readonly sgl?: 'byte' | 'dword'
  /** Byte offset of the doorbell in BAR0. */
  readonly sqTailDoorbell: number
  readonly shadow?: ShadowDoorbell
  /** Position in the ring. It is kept across engines, for as long as the controller's queue exists. */
  sqTail: number
  /**
   * For each slot of a command in flight, how often it was used. Part of the command identifier, so that a late
   * completion is not credited to another command. Kept across engines, like the ring positions.
   */
  readonly generations: Uint16Array
}

/** The part of AbortSignal that is needed here, declared so that these types require neither DOM nor Node typings. */
export interface AbortSignalLike {
  readonly aborted: boolean
  readonly reason: unknown
  /** Calls `listener` on abort; not if already aborted. */
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void
  /** Removes `listener`. */
  removeEventListener(type: 'abort', listener: () => void): void
}

/** Options of executing a plan. */
export interface ExecuteOptions {
  /** Aborting stops submission. Commands in flight are still waited for, so that no DMA is left behind. */
  readonly signal?: AbortSignalLike
  /** Timeout of each command, from its submission. Default: that of the controller, or the engine's own without one. */
  readonly timeoutNs?: number
}

/** Counters of an engine. */
export interface EngineStatistics {
  /** Commands submitted. */
  readonly commands: number
  /** Doorbell writes, for submission and completion queues. */
  readonly doorbellWrites: number
  /** Completions that match no command in flight: late, duplicate or unexpected. */
  readonly staleCompletions: number
}

/**
 * Executes plans with as many commands in flight as the queues hold. `execute` may be called again before an earlier
 * plan has ended: plans are executed in order, and queues do not drain between them.
 *
 * An engine only reports failures; it never resets, retries or repairs. After a timeout or the loss of the device it
 * stops, and its owner recovers.
 *
 * Between `attach` and `detach` only the engine uses the rings, their doorbells and the PRP lists. At all other times
 * no thread, kernel or callback of the engine accesses queues, registers or memory: the owner frees them, resets the
 * controller and reuses its registers. An `attach` that throws has taken nothing.
 */
export interface Engine {
  readonly name: string
  /**
   * The transport whose doorbells it rings; absent if the engine does not state it. A driver rejects the engine if the
   * driver was opened on other registers.
   */
  readonly transport?: Pick<Transport, 'bar'>
  /** Counts since the engine was created, over all queues it was attached to. Absent if it does not count. */
  readonly statistics?: EngineStatistics
  /**
   * Takes queues over; plans refer to them by their index here. While plans are in flight, calls `watch` at least every
   * 10 ms of the transport's clock, so that the owner can check for asynchronous events.
   * @throws TypeError if queues are already attached.
   */
  attach(queues: readonly QueuePairMemory[], watch?: () => void): void
  /**
   * Copies the plan and executes it; the caller may change the plan as soon as this returns. Resolves with one outcome
   * for each command. The engine itself no longer accesses the memory then; the controller may, for commands that did
   * not complete. Rejects for invalid arguments, and with an `EngineFailedError` of `@gpunvme/nvme-spec/engine` if
   * registers or memory cannot be accessed at all.
   */
  execute(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary>
  /**
   * Stages no further command until the next `attach`: commands in flight end as usual, the others of each plan as
   * `not-submitted`. Called when a recovery is necessary; an engine without this method completes its plans first.
   */
  halt?(): void
  /**
   * Returns the queues, with current ring positions and generations. Returns when all threads and kernels of the engine
   * have stopped. Work that must not be interrupted is waited for, no longer than necessary to see that it ends.
   * @throws TypeError while plans are in flight; EngineFailedError if something cannot be stopped, or the ring
   *   positions are lost. The memory of the queues must be kept then.
   */
  detach(): void
}
