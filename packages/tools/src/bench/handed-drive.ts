import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { setTimeout as sleep } from 'node:timers/promises'
import { chooseDriver } from '../binding/driver-choice.js'
import type { DriveFacts } from '../binding/drive-facts.js'
import { giveBack } from '../binding/give-back.js'
import { thisProcess } from '../binding/process-identity.js'
import { startWatcher } from '../binding/start-watcher.js'
import { takeDrive, type Taking } from '../binding/take-drive.js'
import { findDrive, type FoundDrive } from '../drive/find-drive.js'
import { lendTransport } from '../drive/with-drive.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import type { BaselineTarget } from './baseline-bench.js'
import { findNamespace, withKernelDrive } from './kernel-drive.js'
import { ToolsError } from '../command-line/tools-error.js'
import type { Invocation } from '../command-line/invocation.js'

const ROOT = '/'
/** How long Linux's driver may take until it has a block device of a drive that it was given back. */
const RETURN_SECONDS = 60
const LOOK_MS = 100
/** How long another gpunvme may be busy with the drive when it is to be given back. */
const LOCK_WAIT_MS = 10_000

export interface LentDrive {
  /** A drive that is bound to Linux's driver. */
  readonly found: FoundDrive
  /** The drive that the user confirmed; no other drive is taken in any turn. */
  readonly confirmed: DriveFacts
  readonly nsid: number | undefined
  readonly by: Taking['by']
  readonly signal: AbortSignal
  /** See `startWatcher`. */
  readonly onLost: (message: string) => void
  readonly invocation: Invocation
}

/** A drive that goes from Linux to us and back, as often as it is asked for by one or by the other. */
export class HandedDrive {
  private readonly lent: LentDrive
  private isOurs = false

  private constructor(lent: LentDrive) {
    this.lent = lent
  }

  /**
   * Lends it, and gives it back to Linux however `use` ends: a second process watches over that, should this one be
   * killed.
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

  /** Lends it while we have it. */
  async withOurs<T>(use: (opened: OpenedTransport) => Promise<T>): Promise<T> {
    const { found, signal } = this.lent
    signal.throwIfAborted()
    if (!this.isOurs) await this.take()
    return lendTransport({ drive: found.bdf }, 'read', use)
  }

  /** Lends it while Linux has it. @throws NotReturnedError where Linux makes no block device of it in time. */
  async withLinux<T>(use: (target: BaselineTarget) => Promise<T>): Promise<T> {
    this.lent.signal.throwIfAborted()
    await this.giveBack()
    return withKernelDrive(await this.appeared(), this.lent.nsid, use)
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

  /** Linux's driver makes its block devices some time after it was given the drive. */
  private async appeared(): Promise<FoundDrive> {
    const { bdf } = this.lent.found
    for (const untilMs = performance.now() + RETURN_SECONDS * 1000; performance.now() < untilMs;) {
      this.lent.signal.throwIfAborted()
      const found = findDrive(bdf)
      if (found.linuxName !== undefined && hasBlockDevice(found.linuxName, this.lent.nsid)) return found
      await sleep(LOOK_MS)
    }
    throw new NotReturnedError(bdf)
  }
}

function hasBlockDevice(controller: string, nsid: number | undefined): boolean {
  try {
    findNamespace('/sys', controller, nsid)
    return true
  } catch (error) {
    if (error instanceof GpuNvmeError) return false
    throw error
  }
}

/** Linux's driver was given the drive, and shows no block device of it. */
export class NotReturnedError extends ToolsError {
  readonly code = 'ERR_GPUNVME_NOT_RETURNED'
  readonly category = 'device'
  constructor(bdf: string) {
    super(`Linux has no block device of ${bdf} ${RETURN_SECONDS} s after it was given back`, {
      next: ['see what the kernel says of it: dmesg', { command: ['status', bdf] }],
    })
  }
}
