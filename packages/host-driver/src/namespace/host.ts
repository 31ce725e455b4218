import type { Clock, DmaAllocator, DmaMemory, ExecuteOptions, OutcomeSummary, Plan } from '@gpunvme/nvme-spec/transport'
import type { CommandQueue } from '../commands/command-queue.js'
import type { BlockCommandLimits } from './limits.js'

/** What a namespace needs of its controller. */
export interface NamespaceHost {
  readonly dma: DmaAllocator
  readonly clock: Clock
  readonly queues: number
  readonly maxTransferBytes: number
  /** Same as `Transport.movesData`. */
  readonly movesData?: false | undefined
  /** Commands outside plans; undefined if the host only executes plans. */
  readonly commands?: BlockCommands | undefined
  execute(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary>
  flush(nsid: number, timeoutNs?: number): Promise<void>
}

/** Commands for blocks of a namespace outside plans. */
export interface BlockCommands {
  /** CC.MPS in bytes: the unit of PRP entries. */
  readonly pageBytes: number
  /** Limits of each command. */
  limits(): Promise<BlockCommandLimits>
  /** Sends a command that may be sent twice. @throws CommandError, CommandTimeoutError, DeviceLostError. */
  repeat<T>(nsid: number, run: (queue: CommandQueue) => Promise<T>): Promise<T>
  /**
   * Sends a command that may not be sent twice.
   * @throws CommandError; CommandTimeoutError or DeviceLostError, after which the command may or may not have been
   *   executed.
   */
  once(nsid: number, run: (queue: CommandQueue) => Promise<number>): Promise<number>
}
