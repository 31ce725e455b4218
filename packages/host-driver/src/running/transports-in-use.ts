import type { Bar, Transport } from '@gpunvme/nvme-spec/transport'
import { DriverError } from '../error.js'
import { innermost } from '../memory/innermost.js'

/** Keyed by the registers of the innermost transport, which copies and wrappers share. */
const inUse = new WeakSet<Bar>()

/**
 * Claims a controller for one handle; returns a function that releases it.
 * @throws DriverError (CONTROLLER_IN_USE) while another handle of this process has claimed it.
 */
export function takeTransport(transport: Transport): () => void {
  const { bar } = innermost(transport)
  if (inUse.has(bar)) {
    // Each handle would reset the controller under the other.
    const { name } = transport
    throw new DriverError(
      'ERR_GPUNVME_CONTROLLER_IN_USE',
      'usage',
      `Controller ${name} is already open: another handle uses this transport, or one above or below it`,
      { next: 'close() the other handle first, or use that one' },
    )
  }
  inUse.add(bar)
  let isOurs = true
  return () => {
    // Another handle may have claimed it meanwhile.
    if (isOurs) inUse.delete(bar)
    isOurs = false
  }
}
