import type { DmaAllocator, DmaMemory, DmaSegment } from '@gpunvme/nvme-spec/transport'

/** Lengths of the pieces of scattered memory, and of the gaps after them: multiples of a dword, not of a page. */
const PIECE_BYTES = [1996, 4100, 12_004, 520] as const
const GAP_BYTES = 60

/** Memory of a call: as passed to the driver, and as bytes for the campaign. */
export interface CallMemory {
  readonly memory: DmaMemory
  /** Whether only an SGL can describe it. */
  readonly isScattered: boolean
  /** All its bytes: those of the memory itself, or a copy. */
  readonly bytes: Uint8Array
  /** Puts `bytes` into the memory. */
  store(): void
  /** Fetches `bytes` from the memory. */
  load(): void
  free(): void
}

/** Ordinary memory of a namespace. */
export function plainMemory(dma: DmaAllocator, lengthBytes: number): CallMemory {
  const memory = dma.alloc(lengthBytes)
  const { buffer, byteOffset } = memory.view!
  const bytes = new Uint8Array(buffer, byteOffset, lengthBytes)
  const nothing = () => undefined
  return { memory, isScattered: false, bytes, store: nothing, load: nothing, free: () => memory.free() }
}

/** Memory assembled from pieces of other memory that do not end at page boundaries. PRPs cannot describe it. */
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

/** The runs of device addresses of a piece: pages of the memory below may be scattered too. */
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
