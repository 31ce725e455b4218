import { LoaderError } from '../error.js'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { quote } from '../formats/quote.js'
import { alignUp, CHUNK_BYTES, DATA_START_BYTES, type Extent } from '../image/format.js'
import { sumOf } from '../image/holes.js'
import type { BlockStore } from '../store/store.js'

/** Allocates the next extent; returns undefined without space. */
export type ExtentAllocator = (lengthBytes: number) => number | undefined

/** Places extents one after the other, from the start of a hole. */
export function oneAfterTheOther({ offsetBytes, lengthBytes }: Extent): ExtentAllocator {
  let next = offsetBytes
  return (requestedBytes) => {
    const place = next
    if (alignUp(requestedBytes) > offsetBytes + lengthBytes - place) return undefined
    next += alignUp(requestedBytes)
    return place
  }
}

/** Returns the part of a hole from its first whole MiB, a good start for long reads, and then the whole hole. */
export function startsIn(hole: Extent): Extent[] {
  const { offsetBytes, lengthBytes } = hole
  const skippedBytes = Math.ceil(offsetBytes / CHUNK_BYTES) * CHUNK_BYTES - offsetBytes
  if (skippedBytes === 0 || skippedBytes >= lengthBytes) return [hole]
  return [{ offsetBytes: offsetBytes + skippedBytes, lengthBytes: lengthBytes - skippedBytes }, hole]
}

/** Places each extent at the start of the first hole with enough space. */
export function firstFit(holes: readonly Extent[]): ExtentAllocator {
  const left = holes.map((hole) => ({ ...hole }))
  return (lengthBytes) => {
    if (lengthBytes === 0) return DATA_START_BYTES
    const hole = left.find((candidate) => candidate.lengthBytes >= alignUp(lengthBytes))
    if (hole === undefined) return undefined
    const { offsetBytes } = hole
    hole.offsetBytes += alignUp(lengthBytes)
    hole.lengthBytes -= alignUp(lengthBytes)
    return offsetBytes
  }
}

/** Error of a model that does not fit on the namespace, alone or beside the existing models. Nothing was written. */
export class NamespaceTooSmallError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_NAMESPACE_TOO_SMALL'
  readonly category = 'infeasible'
  /** Required length of a namespace for this model alone, in bytes. */
  readonly neededBytes: number
  /** Length of this namespace, in bytes. */
  readonly availableBytes: number
  /** Free bytes for this model. `largestHoleBytes` is the longest free run. */
  readonly freeBytes: number
  readonly largestHoleBytes: number

  constructor(neededBytes: number, capacityBytes: number, holes: readonly Extent[]) {
    const freeBytes = sumOf(holes)
    const largestHoleBytes = holes.reduce((max, { lengthBytes }) => Math.max(max, lengthBytes), 0)
    super('The model does not fit on the namespace', {
      facts: [
        `needed: ${neededBytes} bytes for this model alone, of which ${DATA_START_BYTES} for the superblocks`,
        `available: ${capacityBytes} bytes`,
        `free: ${freeBytes} bytes, at most ${largestHoleBytes} of them in one run`,
      ],
      next:
        neededBytes > capacityBytes
          ? 'use a larger namespace, or a smaller model'
          : 'remove or replace a model, or use a larger namespace',
    })
    this.neededBytes = neededBytes
    this.availableBytes = capacityBytes
    this.freeBytes = freeBytes
    this.largestHoleBytes = largestHoleBytes
  }
}

/** Error of an image without free space for a directory without the removed model. Nothing was written. */
export function noRoomForDirectory({ name: storeName }: Pick<BlockStore, 'name'>, model: string): LoaderError {
  const headline = `Cannot remove ${quote(model)}: the image on ${storeName} is full; nothing was written`
  return new LoaderError('ERR_GPUNVME_NO_ROOM_FOR_DIRECTORY', 'infeasible', headline, {
    facts: ['removal needs space for a second directory'],
    next: 'copy the image to a larger drive; another program wrote it, since pack() always leaves this space',
  })
}
