import type { Transport } from '@gpunvme/nvme-spec/transport'

/** Returns the transport below all wrappers. */
export function innermost(transport: Transport): Transport {
  return transport.wraps === undefined ? transport : innermost(transport.wraps)
}
