import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { Bar, Transport } from '@gpunvme/nvme-spec/transport'

/** Keyed by the registers of the innermost transport, which copies and wrappers share. */
const inUse = new WeakSet<Bar>()

/**
 * Claims a controller for one handle; returns a function that releases it.
 * @throws ControllerInUseError while another handle of this process has claimed it.
 */
export function takeTransport(transport: Transport): () => void {
  const { bar } = innermost(transport)
  if (inUse.has(bar)) throw new ControllerInUseError(transport.name)
  inUse.add(bar)
  let isOurs = true
  return () => {
    // Another handle may have claimed it meanwhile.
    if (isOurs) inUse.delete(bar)
    isOurs = false
  }
}

function innermost(transport: Transport): Transport {
  return transport.wraps === undefined ? transport : innermost(transport.wraps)
}

/** Another handle of this process has the controller; each would reset it under the other. It was not touched. */
export class ControllerInUseError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_CONTROLLER_IN_USE'
  readonly category = 'usage'
  constructor(name: string) {
    super(`Controller ${name} is already open: another handle uses this transport, or one above or below it`, {
      next: 'close() the other handle first, or use that one',
    })
  }
}
