import { CSTS, GpuNvmeError } from '@gpunvme/nvme-spec'
import { ALL_ONES, nextAfterLoss, type Loss } from '../commands/device-lost.js'

/** A handle was used after it was closed, or after its controller was lost. */
export class ControllerClosedError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_CONTROLLER_CLOSED'
  readonly category = 'usage'
  /** @param loss why the controller was lost, if it was. */
  constructor(loss?: Loss) {
    if (loss === undefined) super('This controller handle is closed', { next: 'Controller.open() again' })
    else {
      super(`This controller was lost: ${loss.reason}`, {
        facts: [loss.csts === ALL_ONES ? 'CSTS read 0xffffffff' : CSTS.format(loss.csts)],
        next: nextAfterLoss(loss.csts),
      })
    }
  }
}

/** The drive did not report a complete shutdown in time. Data written after the last flush may be lost. */
export class ShutdownIncompleteError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_SHUTDOWN_INCOMPLETE'
  readonly category = 'device'
  constructor(name: string, waitedNs: number, cause?: unknown) {
    super(`Controller ${name} did not complete its shutdown in ${waitedNs / 1e9} s: CSTS.SHST is not 10b`, {
      facts: ['the controller was disabled, and its memory freed'],
      next: 'treat data written since the last flush() as lost',
      cause,
    })
  }
}

/** The serial number given for writing is not that of the controller. Nothing was written. */
export class SerialMismatchError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_SERIAL_MISMATCH'
  readonly category = 'privilege'
  constructor(given: string) {
    // The controller's own number is not shown: a wrong one must not be corrected without a look at the drive.
    super(`Refused to open for writing: the controller's serial number is not ${JSON.stringify(given)}`, {
      next: 'look up the serial number of the intended drive (Identify Controller), and pass that',
    })
  }
}
