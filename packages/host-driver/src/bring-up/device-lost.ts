import { CSTS, GpuNvmeError } from '@gpunvme/nvme-spec'
import type { OverdueCommand } from '../queues/overdue.js'

export const ALL_ONES = 0xffff_ffff

/** What a controller was lost for, once nothing brought it back. */
export interface Loss {
  /** What CSTS read as in the end; all ones also where it could not be read. */
  readonly csts: number
  readonly reason: string
}

/** What to do about a controller that is lost, and not only failing. */
export function nextAfterLoss(csts: number): string {
  return csts === ALL_ONES
    ? 'check that the drive has power and sits in its slot, then open transport and controller again'
    : 'power-cycle the drive, since no reset that could be done here brought it back, then open the controller again'
}

/** The device does not answer, or reports that it has failed for good. Nothing may touch its registers any more. */
export class DeviceLostError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_DEVICE_LOST'
  readonly category = 'device'
  /** What CSTS read as; all ones of a device that has left the bus. */
  readonly csts: number
  /** The command that was under way, for the recovery to ask after: the device may have been gone for a moment only. */
  overdue?: OverdueCommand
  /** @param reason why nothing could bring it back, where that was tried. */
  constructor(name: string, csts: number, reason?: string, cause?: unknown) {
    const gone = csts === ALL_ONES
    const found = CSTS.CFS.of(csts) === 1 ? 'failed: CSTS.CFS is set' : 'was reset externally: CSTS.RDY is 0'
    const now = gone ? `Every register reads 0xffffffff on ${name}` : `Controller ${name} ${found}`
    super(reason === undefined ? now : `Controller ${name} was lost: ${reason}`, {
      facts: [
        gone
          ? 'The function is in D3, off the bus, or the read came from the GPU on a host that drops peer reads.'
          : CSTS.format(csts),
      ],
      next: gone || reason !== undefined ? nextAfterLoss(csts) : 'open the controller again: that resets it',
      cause,
    })
    this.csts = csts
  }
}

/** Returns whether an error reports a lost device, after which no register may be accessed. */
export function isGone(error: unknown): error is DeviceLostError {
  return error instanceof DeviceLostError && error.csts === ALL_ONES
}
