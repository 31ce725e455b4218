import type { DmaAllocator, DmaMemory, DmaSegment } from '@gpunvme/nvme-spec/transport'

/** Lengths of the pieces of scattered memory and of the gap after each: multiples of a dword, but not of a page. */
const PIECE_BYTES = [1996, 4100, 12_004, 520] as const
const GAP_BYTES = 60

/** Memory of a call: `memory` is passed to the driver, `bytes` is for the campaign. */
export interface CallMemory {
  readonly memory: DmaMemory
  /** Whether only an SGL can describe the memory. */
  readonly isScattered: boolean
  /** Content: a view of the memory itself, or a copy. */
  readonly bytes: Uint8Array
  /** Copies `bytes` into the memory; does nothing if it is a view. */
  store(): void
  /** Copies the memory into `bytes`; does nothing if it is a view. */
  load(): void
  free(): void
}

/** Allocates ordinary memory. */
export function plainMemory(dma: DmaAllocator, lengthBytes: number): CallMemory {
  const memory = dma.alloc(lengthBytes)
  const { buffer, byteOffset } = memory.view!
  const bytes = new Uint8Array(buffer, byteOffset, lengthBytes)
  const nothing = () => undefined
  return { memory, isScattered: false, bytes, store: nothing, load: nothing, free: () => memory.free() }
}

/** Allocates memory that consists of pieces which do not end at page boundaries, so that PRPs cannot describe it. */
export function scatteredMemory(dma: DmaAllocator, lengthBytes: number): CallMemory {
  const pieces: { readonly offsetBytes: number; readonly at: number; readonly lengthBytes: number }[] = []
  let [done, at] = [0, 0]
  for (let i = 0; done < lengthBytes; i++) {
    const piece = Math.min(PIECE_BYTES[i % PIECE_BYTES.length]!, lengthBytes - done)
    pieces.push({ offsetBytes: done, at, lengthBytes: piece })
    done += piece
    at += piece + GAP_BYTES
  }
  const whole = dma.alloc(at)
  const all = new Uint8Array(whole.view!.buffer, whole.view!.byteOffset, at)
  const bytes = new Uint8Array(lengthBytes)
  const segments = pieces.flatMap((piece) => contiguous(whole, piece))
  const memory: DmaMemory = {
    lengthBytes,
    segments,
    iovaAt(offsetBytes) {
      const found = segments.findLast((segment) => segment.offsetBytes <= offsetBytes)!
      return found.iova + offsetBytes - found.offsetBytes
    },
    forDevice: () => whole.forDevice(0, at),
    forHost: () => whole.forHost(0, at),
    free: () => whole.free(),
  }
  return {
    memory,
    isScattered: true,
    bytes,
    store: () => {
      for (const piece of pieces)
        all.set(bytes.subarray(piece.offsetBytes, piece.offsetBytes + piece.lengthBytes), piece.at)
    },
    load: () => {
      for (const piece of pieces) bytes.set(all.subarray(piece.at, piece.at + piece.lengthBytes), piece.offsetBytes)
    },
    free: () => whole.free(),
  }
}

/** Returns the contiguous ranges of device addresses of a piece: the underlying pages may be scattered too. */
function contiguous(
  { segments }: DmaMemory,
  piece: { readonly offsetBytes: number; readonly at: number; readonly lengthBytes: number },
): DmaSegment[] {
  const end = piece.at + piece.lengthBytes
  const overlapping = segments.filter(
    (each) => each.offsetBytes < end && each.offsetBytes + each.lengthBytes > piece.at,
  )
  return overlapping.map((each) => {
    const from = Math.max(each.offsetBytes, piece.at)
    const to = Math.min(each.offsetBytes + each.lengthBytes, end)
    return {
      offsetBytes: piece.offsetBytes + from - piece.at,
      iova: each.iova + from - each.offsetBytes,
      lengthBytes: to - from,
    }
  })
}
