import type { Invocation } from '../terminal/invocation.js'
import type { Entry } from './entry.js'
import { giveBack } from './give-back.js'
import { identityOf, thisProcess } from './process-identity.js'
import { runCommand } from './run-command.js'
import { startWatcher } from './start-watcher.js'
import { takeDrive, type Taking } from './take-drive.js'

/** Processes started by the command may use the drive slightly longer. */
const WAIT_MS = 10_000

export interface BoundOptions {
  /** Called before the command runs, with the record of the binding; undefined if the drive was already bound. */
  readonly onTaken: (entry: Entry | undefined) => void
  /** See `startWatcher`. */
  readonly onLost: (message: string) => void
  readonly invocation: Invocation
}

/**
 * Runs a command with a drive bound, and returns the drive afterwards in all cases.
 * @returns the command's exit status.
 */
export async function runBound(
  taking: Omit<Taking, 'isHeld'>,
  words: readonly [string, ...string[]],
  signal: AbortSignal,
  { onTaken, onLost, invocation }: BoundOptions,
): Promise<number> {
  const { root, found } = taking
  const holder = thisProcess()
  // Before the first step, so that the drive is returned even if this process is killed during it.
  const watcher = await startWatcher({ root, bdf: found.bdf, holder, invocation }, onLost)
  try {
    const entry = await takeDrive({ ...taking, isHeld: true })
    try {
      signal.throwIfAborted()
      onTaken(entry)
      return await runCommand(words, (pid) => {
        const command = identityOf(pid)
        if (command !== undefined) watcher.watch(command)
      })
    } finally {
      if (entry !== undefined) await giveBack(root, found.bdf, { holder, waitMs: WAIT_MS })
    }
  } finally {
    await watcher.end()
  }
}
