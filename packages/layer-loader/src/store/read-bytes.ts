import type { ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import { allocateHostBuffer } from '../buffer-pool.js'
import type { BlockStore } from './store.js'

/**
 * Reads any byte range of a store through a temporary buffer: for headers and the like, not for bulk data.
 * @throws RangeError for a range outside the store; errors of `read`.
 */
export async function readBytes(
  store: BlockStore,
  offsetBytes: number,
  lengthBytes: number,
  options?: ExecuteOptions,
): Promise<Uint8Array> {
  if (lengthBytes === 0) return new Uint8Array(0)
  const { blockBytes } = store
  const startBytes = Math.floor(offsetBytes / blockBytes) * blockBytes
  const endBytes = Math.ceil((offsetBytes + lengthBytes) / blockBytes) * blockBytes
  const { memory, bytes } = allocateHostBuffer(store.dma, endBytes - startBytes)
  try {
    const whole = { offsetBytes: startBytes, lengthBytes: endBytes - startBytes, memoryBytes: 0 }
    await store.read([whole], memory, options)
    return bytes.slice(offsetBytes - startBytes, offsetBytes - startBytes + lengthBytes)
  } finally {
    memory.free()
  }
}
