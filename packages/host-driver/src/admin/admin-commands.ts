import type { ControllerIdentity } from '../bring-up/identity.js'
import { timeout, type Checks } from '../check-options.js'
import type { CommandQueue } from '../commands/command-queue.js'

/** What the functions of this folder that only ask need of a controller. */
export interface AdminReads {
  readonly identity: Pick<ControllerIdentity, 'raw'>
  /** Sends a command that may be sent twice. @throws CommandError, CommandTimeoutError, DeviceLostError. */
  repeat<T>(run: (admin: Pick<CommandQueue, 'exchange'>) => Promise<T>): Promise<T>
}

/** What all functions of this folder need of a controller. */
export interface AdminCommands extends AdminReads {
  readonly identity: ControllerIdentity
  /** As `AdminReads.repeat`. */
  repeat<T>(run: (admin: CommandQueue) => Promise<T>): Promise<T>
  /**
   * Sends a command that may not be sent twice.
   * @throws CommandError; CommandTimeoutError, DeviceLostError, after which it may or may not have happened.
   */
  once(run: (admin: CommandQueue) => Promise<number>): Promise<number>
}

/** The NSID that means every namespace, or none in particular (Base 2.1 §3.2.1). */
export const ALL_NAMESPACES = 0xffff_ffff

/** For single admin commands. */
export interface AdminOptions {
  /** From its submission; `commandTimeoutNs` of the controller when not given. */
  readonly timeoutNs?: number | undefined
}

export const adminOptions: Checks<AdminOptions> = { timeoutNs: timeout }
