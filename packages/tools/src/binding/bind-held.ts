import type { Invocation } from '../terminal/invocation.js'
import type { Entry } from './entry.js'
import { giveBack } from './give-back.js'
import { thisProcess, type ProcessIdentity } from './process-identity.js'
import { startWatcher } from './start-watcher.js'
import { takeDrive, type Taking } from './take-drive.js'

/** Time limit for processes that still use the drive before it is returned. */
const WAIT_MS = 10_000

export interface HeldOptions {
  /** See `startWatcher`. */
  readonly onLost: (message: string) => void
  readonly invocation: Invocation
}

/** A drive bound by this process. `release` returns it; the watcher does if the process is killed. */
export interface HeldDrive {
  /** Record of the binding; undefined if the drive was already bound to that driver, and is not returned. */
  readonly entry: Entry | undefined
  /** Makes the watcher end this command before it returns the drive. */
  watch(command: ProcessIdentity): void
  /** Returns the drive, and ends the watcher. Idempotent. @throws errors of `giveBack` */
  release(): Promise<void>
}

/**
 * Binds a drive until `release`. A second process returns it if this one is killed.
 * @throws errors of `startWatcher` and `takeDrive`
 */
export async function bindHeld(
  taking: Omit<Taking, 'isHeld'>,
  { onLost, invocation }: HeldOptions,
): Promise<HeldDrive> {
  const { root, found } = taking
  const holder = thisProcess()
  // Before the first step, so that the drive is returned even if this process is killed during it.
  const watcher = await startWatcher({ root, bdf: found.bdf, holder, invocation }, onLost)
  let entry: Entry | undefined
  try {
    entry = await takeDrive({ ...taking, isHeld: true })
  } catch (error) {
    await watcher.end()
    throw error
  }
  const release = async () => {
    try {
      if (entry !== undefined) await giveBack(root, found.bdf, { holder, waitMs: WAIT_MS })
    } finally {
      await watcher.end()
    }
  }
  let releasing: Promise<void> | undefined
  return { entry, watch: (command) => watcher.watch(command), release: () => (releasing ??= release()) }
}
