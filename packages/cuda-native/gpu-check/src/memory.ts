import type { DmaMemory } from '@gpunvme/nvme-spec/transport'

/** Wraps a range of this process's memory as DMA memory whose device addresses are the process's addresses. */
export function pieceOf(buffer: ArrayBuffer, address: bigint, offsetBytes: number, lengthBytes: number): DmaMemory {
  const iova = Number(address) + offsetBytes
  return {
    lengthBytes,
    view: new DataView(buffer, offsetBytes, lengthBytes),
    segments: [{ offsetBytes: 0, iova, lengthBytes }],
    iovaAt: (at) => iova + at,
    forDevice: () => undefined,
    forHost: () => undefined,
    free: () => undefined,
  }
}

export function bytesOf({ view }: DmaMemory): Uint8Array<ArrayBuffer> {
  return new Uint8Array(view!.buffer as ArrayBuffer, view!.byteOffset, view!.byteLength)
}

/** Reorders the pages of `memory`: page i is page `order[i]` of `memory`. The host has no contiguous view of the result. */
export function scattered(memory: DmaMemory, order: readonly number[], pageBytes: number): DmaMemory {
  const segments: { offsetBytes: number; iova: number; lengthBytes: number }[] = []
  order.forEach((page, index) => {
    const iova = memory.iovaAt(page * pageBytes)
    const last = segments.at(-1)
    if (last !== undefined && last.iova + last.lengthBytes === iova) last.lengthBytes += pageBytes
    else segments.push({ offsetBytes: index * pageBytes, iova, lengthBytes: pageBytes })
  })
  const iovaAt = (at: number) => memory.iovaAt(order[Math.floor(at / pageBytes)]! * pageBytes + (at % pageBytes))
  const lengthBytes = order.length * pageBytes
  return {
    ...{ lengthBytes, segments, iovaAt },
    forDevice: () => undefined,
    forHost: () => undefined,
    free: () => undefined,
  }
}
