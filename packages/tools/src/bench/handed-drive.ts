import { chooseDriver } from '../binding/driver-choice.js'
import type { DriveFacts } from '../binding/drive-facts.js'
import { giveBack } from '../binding/give-back.js'
import { thisProcess } from '../binding/process-identity.js'
import { startWatcher } from '../binding/start-watcher.js'
import { takeDrive, type Taking } from '../binding/take-drive.js'
import { awaitBlockDevice } from '../drive/block-device.js'
import { findDrive, type FoundDrive } from '../drive/find-drive.js'
import { lendTransport } from '../drive/with-drive.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import type { BaselineTarget } from './baseline-bench.js'
import { withKernelDrive } from './kernel-drive.js'
import type { Invocation } from '../terminal/invocation.js'

const ROOT = '/'
/** Time limit for another gpunvme to finish with the drive before it is returned. */
const LOCK_WAIT_MS = 10_000

export interface LentDrive {
  /** A drive bound to Linux's driver. */
  readonly found: FoundDrive
  /** The drive that the user confirmed; no other drive is used in any turn. */
  readonly confirmed: DriveFacts
  readonly nsid: number | undefined
  readonly by: Taking['by']
  readonly signal: AbortSignal
  /** See `startWatcher`. */
  readonly onLost: (message: string) => void
  readonly invocation: Invocation
}

/** A drive that alternates between Linux's driver and ours. */
export class HandedDrive {
  private readonly lent: LentDrive
  private isOurs = false

  private constructor(lent: LentDrive) {
    this.lent = lent
  }

  /**
   * Lends the drive, and returns it to Linux however `use` ends. A second process does that if this one is killed.
   */
  static async lend<T>(lent: LentDrive, use: (drive: HandedDrive) => Promise<T>): Promise<T> {
    const { found, onLost, invocation } = lent
    const watched = { root: ROOT, bdf: found.bdf, holder: thisProcess(), invocation }
    const watcher = await startWatcher(watched, onLost)
    const drive = new HandedDrive(lent)
    try {
      return await use(drive)
    } finally {
      try {
        await drive.giveBack()
      } finally {
        await watcher.end()
      }
    }
  }

  /** Lends it while it is bound to our driver. */
  async withOurs<T>(use: (opened: OpenedTransport) => Promise<T>): Promise<T> {
    const { found, signal } = this.lent
    signal.throwIfAborted()
    if (!this.isOurs) await this.take()
    return lendTransport({ drive: found.bdf }, 'read', use)
  }

  /**
   * Lends it while it is bound to Linux's driver. @throws ToolsError (NOT_RETURNED) if Linux creates no block device in time.
   */
  async withLinux<T>(use: (target: BaselineTarget) => Promise<T>): Promise<T> {
    this.lent.signal.throwIfAborted()
    await this.giveBack()
    const { found, nsid, signal } = this.lent
    return withKernelDrive(await awaitBlockDevice(found.bdf, nsid, signal), nsid, use)
  }

  private async take(): Promise<void> {
    const { found, confirmed, by } = this.lent
    const { bdf, linuxName } = findDrive(found.bdf)
    await takeDrive({
      root: ROOT,
      found,
      driver: chooseDriver(ROOT, found, undefined).driver,
      known: { name: linuxName ?? bdf, ...confirmed },
      by,
      isHeld: true,
    })
    this.isOurs = true
  }

  private async giveBack(): Promise<void> {
    if (!this.isOurs) return
    await giveBack(ROOT, this.lent.found.bdf, { holder: thisProcess(), waitMs: LOCK_WAIT_MS })
    this.isOurs = false
  }
}
