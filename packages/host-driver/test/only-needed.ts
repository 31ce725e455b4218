import type { Transport } from '@gpunvme/nvme-spec/transport'

/** Returns a transport without its optional members. */
export function onlyNeeded(transport: Transport): Transport {
  const { name, bar, dma, clock, can } = transport
  return { name, bar, dma, clock, can, close: () => transport.close() }
}
