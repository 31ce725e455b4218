import type { DmaMemory } from '@gpunvme/nvme-spec/transport'

/** A part of memory of this process as memory for transfers, whose device addresses are this process's. */
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

/** Pages of `memory` in another order: page i is its page `order[i]`. The host does not see them as one. */
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
