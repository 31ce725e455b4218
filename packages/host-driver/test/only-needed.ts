import type { Transport } from '@gpunvme/nvme-spec/transport'

/** A transport with nothing of what it need not have. */
export function onlyNeeded(transport: Transport): Transport {
  const { name, bar, dma, clock, can } = transport
  return { name, bar, dma, clock, can, close: () => transport.close() }
}
