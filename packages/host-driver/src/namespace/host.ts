import type { Clock, DmaAllocator, DmaMemory, ExecuteOptions, OutcomeSummary, Plan } from '@gpunvme/nvme-spec/transport'
import type { CommandQueue } from '../commands/command-queue.js'
import type { BlockCommandLimits } from './limits.js'

/** What a namespace needs of the controller that it belongs to. */
export interface NamespaceHost {
  readonly dma: DmaAllocator
  readonly clock: Clock
  readonly queues: number
  readonly maxTransferBytes: number
  /** As `Transport.movesData`. */
  readonly movesData?: false | undefined
  /** Undefined where there are plans only: then a namespace has no other commands. */
  readonly commands?: BlockCommands | undefined
  execute(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary>
  flush(nsid: number, timeoutNs?: number): Promise<void>
}

/** Commands for blocks of a namespace that are no part of a plan. */
export interface BlockCommands {
  /** CC.MPS, in bytes: where PRP entries meet. */
  readonly pageBytes: number
  /** What the controller takes of each command. */
  limits(): Promise<BlockCommandLimits>
  /** Sends a command that may be sent twice. @throws CommandError, CommandTimeoutError, DeviceLostError. */
  repeat<T>(nsid: number, run: (queue: CommandQueue) => Promise<T>): Promise<T>
  /**
   * Sends a command that may not be sent twice.
   * @throws CommandError; CommandTimeoutError, DeviceLostError, after which it may or may not have happened.
   */
  once(nsid: number, run: (queue: CommandQueue) => Promise<number>): Promise<number>
}
