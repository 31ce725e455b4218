import { CSTS, GpuNvmeError } from '@gpunvme/nvme-spec'
import type { OverdueCommand } from '../queues/queue-pair.js'

export const ALL_ONES = 0xffff_ffff

/** Why a controller was lost. */
export interface Loss {
  /** Last value of CSTS; all ones if it could not be read. */
  readonly csts: number
  readonly reason: string
}

/** Returns the next step for a lost controller. */
export function nextAfterLoss(csts: number): string {
  return csts === ALL_ONES
    ? 'check that the drive has power and sits in its slot, then open transport and controller again'
    : 'power-cycle the drive (no available reset recovered it), then open the controller again'
}

/** The device has left the bus, or the controller has failed or was reset. No register may be accessed any more. */
export class DeviceLostError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_DEVICE_LOST'
  readonly category = 'device'
  /** Last value of CSTS; all ones if the device has left the bus. */
  readonly csts: number
  /** Command in flight, for a recovery to account for: the device may have been gone only for a moment. */
  overdue?: OverdueCommand
  /** @param reason why recovery failed, if there was one. */
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
