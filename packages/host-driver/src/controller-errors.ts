import { CSTS, GpuNvmeError } from '@gpunvme/nvme-spec'
import { ALL_ONES, nextAfterLoss, type Loss } from './bring-up/device-lost.js'

/** A handle was used after it was closed, or after its controller was lost. */
export class ControllerClosedError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_CONTROLLER_CLOSED'
  readonly category = 'usage'
  /** @param loss what it was lost for, where it was. */
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

/** The drive did not say in time that its shutdown is complete. What was written after the last flush may be lost. */
export class ShutdownIncompleteError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_SHUTDOWN_INCOMPLETE'
  readonly category = 'device'
  constructor(name: string, waitedNs: number, cause?: unknown) {
    super(`Controller ${name} did not complete its shutdown in ${waitedNs / 1e9} s: CSTS.SHST is not 10b`, {
      facts: ['it was disabled all the same, and its memory was given back'],
      next: 'treat what was written since the last flush() as lost',
      cause,
    })
  }
}

/** The serial number given for writing is not that of the controller behind the transport. Nothing was written. */
export class SerialMismatchError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_SERIAL_MISMATCH'
  readonly category = 'privilege'
  constructor(given: string) {
    // Without the controller's own number: a wrong one must not be corrected without a look at the drive.
    super(`Refused to open for writing: the controller's serial number is not ${JSON.stringify(given)}`, {
      next: 'look up the serial number of the intended drive (Identify Controller), and pass that',
    })
  }
}
