import type { DmaMemory } from '@gpunvme/nvme-spec/transport'

/** Bytes as memory that the host sees and no controller reaches. */
export function hostMemory(bytes: Uint8Array): DmaMemory {
  return {
    lengthBytes: bytes.byteLength,
    view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    segments: [],
    iovaAt: () => {
      throw new TypeError('no controller reaches this memory')
    },
    forDevice: () => undefined,
    forHost: () => undefined,
    free: () => undefined,
  }
}
