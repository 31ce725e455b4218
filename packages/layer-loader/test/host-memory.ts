import type { DmaMemory } from '@gpunvme/nvme-spec/transport'

/** Wraps bytes as host memory without an address for a controller. */
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
