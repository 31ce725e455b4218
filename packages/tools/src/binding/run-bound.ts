import { bindHeld, type HeldOptions } from './bind-held.js'
import type { Entry } from './entry.js'
import { identityOf } from './process-identity.js'
import { runCommand } from './run-command.js'
import type { Taking } from './take-drive.js'

export interface BoundOptions extends HeldOptions {
  /** Called before the command runs, with the record of the binding; undefined if the drive was already bound. */
  readonly onTaken: (entry: Entry | undefined) => void
}

/**
 * Runs a command with a drive bound, and returns the drive afterwards in all cases.
 * @returns the command's exit status.
 */
export async function runBound(
  taking: Omit<Taking, 'isHeld'>,
  words: readonly [string, ...string[]],
  signal: AbortSignal,
  { onTaken, ...options }: BoundOptions,
): Promise<number> {
  const held = await bindHeld(taking, options)
  try {
    signal.throwIfAborted()
    onTaken(held.entry)
    return await runCommand(words, (pid) => {
      const command = identityOf(pid)
      if (command !== undefined) held.watch(command)
    })
  } finally {
    await held.release()
  }
}
