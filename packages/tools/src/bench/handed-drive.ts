import { bindHeld, type HeldDrive, type HeldOptions } from '../binding/bind-held.js'
import { chooseDriver } from '../binding/driver-choice.js'
import type { DriveFacts } from '../binding/drive-facts.js'
import type { Taking } from '../binding/take-drive.js'
import { awaitBlockDevice } from '../drive/block-device.js'
import { findDrive, type FoundDrive } from '../drive/find-drive.js'
import { lendTransport } from '../drive/with-drive.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import type { BaselineTarget } from './baseline-bench.js'
import { withKernelDrive } from './kernel-drive.js'

const ROOT = '/'

export interface LentDrive extends HeldOptions {
  /** A drive bound to Linux's driver. */
  readonly found: FoundDrive
  /** The drive that the user confirmed; no other drive is used in any turn. */
  readonly confirmed: DriveFacts
  readonly nsid: number | undefined
  readonly by: Taking['by']
  readonly signal: AbortSignal
}

/** A drive that alternates between Linux's driver and ours. */
export class HandedDrive {
  private readonly lent: LentDrive
  /** Present while the drive is bound to our driver. */
  private held: HeldDrive | undefined

  private constructor(lent: LentDrive) {
    this.lent = lent
  }

  /** Lends the drive, and returns it to Linux however `use` ends. A second process does that if this one is killed. */
  static async lend<T>(lent: LentDrive, use: (drive: HandedDrive) => Promise<T>): Promise<T> {
    const drive = new HandedDrive(lent)
    try {
      return await use(drive)
    } finally {
      await drive.giveBack()
    }
  }

  /** Lends it while it is bound to our driver. */
  async withOurs<T>(use: (opened: OpenedTransport) => Promise<T>): Promise<T> {
    const { found, signal } = this.lent
    signal.throwIfAborted()
    this.held ??= await this.take()
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

  private take(): Promise<HeldDrive> {
    const { found, confirmed, by, onLost, invocation } = this.lent
    const { bdf, linuxName } = findDrive(found.bdf)
    const { driver } = chooseDriver(ROOT, found, undefined)
    const known = { name: linuxName ?? bdf, ...confirmed }
    return bindHeld({ root: ROOT, found, driver, known, by }, { onLost, invocation })
  }

  private async giveBack(): Promise<void> {
    await this.held?.release()
    this.held = undefined
  }
}
