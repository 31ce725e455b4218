import { CSTS, GpuNvmeError } from '@gpunvme/nvme-spec'

export const ALL_ONES = 0xffff_ffff

/** Whether a controller that was ready has gone, has failed, or was reset by somebody else: it answers nothing any more. */
export function isLost(csts: number): boolean {
  return csts === ALL_ONES || CSTS.CFS.of(csts) === 1 || CSTS.RDY.of(csts) === 0
}

/** The device does not answer, or reports that it has failed for good. Nothing may touch its registers any more. */
export class DeviceLostError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_DEVICE_LOST'
  readonly category = 'device'
  /** What CSTS read as; all ones of a device that has left the bus. */
  readonly csts: number
  constructor(name: string, csts: number) {
    const gone = csts === ALL_ONES
    const reason = CSTS.CFS.of(csts) === 1 ? 'failed: CSTS.CFS is set' : 'was reset by somebody else: CSTS.RDY is 0'
    super(gone ? `Every register reads 0xffffffff on ${name}` : `Controller ${name} ${reason}`, {
      facts: [
        gone
          ? 'The function is in D3, off the bus, or the read came from the GPU on a host that drops peer reads.'
          : CSTS.format(csts),
      ],
      next: gone
        ? 'check that the controller is powered and on the bus, then open it again'
        : 'open the controller again: that resets it',
    })
    this.csts = csts
  }
}
