import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { Bar, Transport } from '@gpunvme/nvme-spec/transport'

/** By their registers: a copy of a transport, with something else exchanged, has the same ones. */
const inUse = new WeakSet<Bar>()

/**
 * Takes a controller for one handle, and gives what lets go of it again.
 * @throws ControllerInUseError while another handle of this process has it.
 */
export function takeTransport({ name, bar }: Pick<Transport, 'name' | 'bar'>): () => void {
  if (inUse.has(bar)) throw new ControllerInUseError(name)
  inUse.add(bar)
  let isOurs = true
  return () => {
    // Another handle may have taken it since.
    if (isOurs) inUse.delete(bar)
    isOurs = false
  }
}

/** Another handle of this process drives the controller; both would reset it under each other. It was not touched. */
export class ControllerInUseError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_CONTROLLER_IN_USE'
  readonly category = 'usage'
  constructor(name: string) {
    super(`Controller ${name} is open already: another handle uses the same transport`, {
      next: 'close() the other handle first, or use that one',
    })
  }
}
