import { timeout, type Checks } from '../check-options.js'
import type { CommandQueue } from '../commands/command-queue.js'

/** Parts of a controller that Admin functions which only read use. */
export interface AdminReads {
  /** The 4096 bytes of Identify Controller. */
  readonly identity: { readonly raw: DataView }
  /** Sends a command that may be sent twice. @throws CommandError, CommandTimeoutError, DeviceLostError. */
  repeat<T>(run: (admin: Pick<CommandQueue, 'exchange'>) => Promise<T>): Promise<T>
}

/** Parts of a controller that all Admin functions use. */
export interface AdminCommands extends AdminReads {
  /** Same as `AdminReads.repeat`. */
  repeat<T>(run: (admin: CommandQueue) => Promise<T>): Promise<T>
  /**
   * Sends a command that may not be sent twice.
   * @throws CommandError; CommandTimeoutError or DeviceLostError, after which the command may or may not have been
   *   executed.
   */
  once(run: (admin: CommandQueue) => Promise<number>): Promise<number>
}

/** NSID of all namespaces, or of none in particular (Base 2.1 §3.2.1). */
export const ALL_NAMESPACES = 0xffff_ffff

/** Options of a single Admin command. */
export interface AdminOptions {
  /** Time limit from submission. Default: `commandTimeoutNs` of the controller. */
  readonly timeoutNs?: number | undefined
}

export const adminOptions: Checks<AdminOptions> = { timeoutNs: timeout }
