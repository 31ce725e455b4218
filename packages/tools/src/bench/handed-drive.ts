import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { setTimeout as sleep } from 'node:timers/promises'
import { chooseDriver } from '../binding/driver-choice.js'
import { shellLine, userName } from '../command-line/advised-command.js'
import type { DriveFacts } from '../binding/drive-facts.js'
import { giveBack } from '../binding/give-back.js'
import { thisProcess } from '../binding/process-identity.js'
import { startWatcher } from '../binding/start-watcher.js'
import { takeDrive } from '../binding/take-drive.js'
import { findDrive, type FoundDrive } from '../drive/find-drive.js'
import { withTransport } from '../drive/with-drive.js'
import type { OpenedTransport } from '../open.js'
import type { BaselineTarget } from './baseline-bench.js'
import { findNamespace, withKernelDrive } from './kernel-drive.js'

const ROOT = '/'
/** How long Linux's driver may take until it has a block device of a drive that it was given back. */
const RETURN_SECONDS = 60
const LOOK_MS = 100
/** How long another gpunvme may be busy with the drive when it is to be given back. */
const LOCK_WAIT_MS = 10_000

/** A drive that goes from Linux to us and back, as often as it is asked for by one or by the other. */
export class HandedDrive {
  private readonly found: FoundDrive
  private readonly confirmed: DriveFacts
  private readonly nsid: number | undefined
  private readonly signal: AbortSignal
  private isOurs = false

  private constructor(found: FoundDrive, confirmed: DriveFacts, nsid: number | undefined, signal: AbortSignal) {
    this.found = found
    this.confirmed = confirmed
    this.nsid = nsid
    this.signal = signal
  }

  /**
   * Lends it, and gives it back to Linux however `use` ends: a second process watches over that, should this one be
   * killed.
   * @param found a drive that Linux's driver has.
   * @param confirmed what it was when somebody said that this is the one: in no turn is another taken.
   */
  static async lend<T>(
    found: FoundDrive,
    confirmed: DriveFacts,
    nsid: number | undefined,
    signal: AbortSignal,
    use: (drive: HandedDrive) => Promise<T>,
  ): Promise<T> {
    const watcher = await startWatcher({ root: ROOT, bdf: found.bdf, holder: thisProcess() })
    const drive = new HandedDrive(found, confirmed, nsid, signal)
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
    const { found, signal } = this
    signal.throwIfAborted()
    if (!this.isOurs) await this.take()
    return withTransport({ drive: found.bdf }, 'read', use)
  }

  /** Lends it while Linux has it. @throws NotReturnedError where Linux makes no block device of it in time. */
  async withLinux<T>(use: (target: BaselineTarget) => Promise<T>): Promise<T> {
    this.signal.throwIfAborted()
    await this.giveBack()
    return withKernelDrive(await this.appeared(), this.nsid, use)
  }

  private async take(): Promise<void> {
    const { bdf, linuxName } = findDrive(this.found.bdf)
    await takeDrive({
      root: ROOT,
      found: this.found,
      driver: chooseDriver(ROOT, this.found, undefined).driver,
      known: { name: linuxName ?? bdf, ...this.confirmed },
      by: { user: userName(), command: shellLine(['gpunvme', ...process.argv.slice(2)]) },
      isHeld: true,
    })
    this.isOurs = true
  }

  private async giveBack(): Promise<void> {
    if (!this.isOurs) return
    await giveBack(ROOT, this.found.bdf, { holder: thisProcess(), waitMs: LOCK_WAIT_MS })
    this.isOurs = false
  }

  /** Linux's driver makes its block devices some time after it was given the drive. */
  private async appeared(): Promise<FoundDrive> {
    const { bdf } = this.found
    for (const untilMs = performance.now() + RETURN_SECONDS * 1000; performance.now() < untilMs;) {
      this.signal.throwIfAborted()
      const found = findDrive(bdf)
      if (found.linuxName !== undefined && hasBlockDevice(found.linuxName, this.nsid)) return found
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
export class NotReturnedError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_NOT_RETURNED'
  readonly category = 'device'
  constructor(bdf: string) {
    super(`Linux has no block device of ${bdf} ${RETURN_SECONDS} s after it was given back`, {
      next: `see what the kernel says of it: dmesg; gpunvme status ${bdf}`,
    })
  }
}
