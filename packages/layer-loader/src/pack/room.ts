import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { quote } from '../formats/quote.js'
import { alignUp, CHUNK_BYTES, DATA_START_BYTES, type Extent } from '../image/format.js'
import { sumOf } from '../image/holes.js'
import type { BlockStore } from '../store/store.js'

/** Gives extents their places, one after the other; undefined for one that there is no room for. */
export type Room = (lengthBytes: number) => number | undefined

/** One extent directly after the other, from the start of a hole. */
export function oneAfterTheOther({ offsetBytes, lengthBytes }: Extent): Room {
  let next = offsetBytes
  return (wantedBytes) => {
    const place = next
    if (alignUp(wantedBytes) > offsetBytes + lengthBytes - place) return undefined
    next += alignUp(wantedBytes)
    return place
  }
}

/** The part of a hole from its first whole MiB, where drives like long reads to begin; and then all of it. */
export function startsIn(hole: Extent): Extent[] {
  const { offsetBytes, lengthBytes } = hole
  const skippedBytes = Math.ceil(offsetBytes / CHUNK_BYTES) * CHUNK_BYTES - offsetBytes
  if (skippedBytes === 0 || skippedBytes >= lengthBytes) return [hole]
  return [{ offsetBytes: offsetBytes + skippedBytes, lengthBytes: lengthBytes - skippedBytes }, hole]
}

/** Each extent at the start of the first hole that has room for it. */
export function firstFit(holes: readonly Extent[]): Room {
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

/** The model does not fit on the namespace, or not beside what is there. Nothing was written. */
export class NamespaceTooSmallError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_NAMESPACE_TOO_SMALL'
  readonly category = 'infeasible'
  /** How long a namespace must be that holds this model alone. */
  readonly neededBytes: number
  /** How long this one is. */
  readonly availableBytes: number
  /** What of it is free for this model, and the longest run of that. */
  readonly freeBytes: number
  readonly largestHoleBytes: number

  constructor(neededBytes: number, capacityBytes: number, holes: readonly Extent[]) {
    const freeBytes = sumOf(holes)
    const largestHoleBytes = holes.reduce((most, { lengthBytes }) => Math.max(most, lengthBytes), 0)
    super('The model does not fit on the namespace', {
      facts: [
        `needed: ${neededBytes} bytes where it is alone, of which ${DATA_START_BYTES} for the superblocks`,
        `available: ${capacityBytes} bytes`,
        `free: ${freeBytes} bytes, at most ${largestHoleBytes} of them in one run`,
      ],
      next:
        neededBytes > capacityBytes
          ? 'use a larger namespace, or a model of fewer or smaller tensors'
          : 'remove a model that is not needed, or replace one, or use a larger namespace',
    })
    this.neededBytes = neededBytes
    this.availableBytes = capacityBytes
    this.freeBytes = freeBytes
    this.largestHoleBytes = largestHoleBytes
  }
}

/** An image has no free page for a directory without the model that is to be removed. Nothing was written. */
export class NoRoomForDirectoryError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_NO_ROOM_FOR_DIRECTORY'
  readonly category = 'infeasible'

  constructor({ name: storeName }: Pick<BlockStore, 'name'>, model: string) {
    super(`The image on ${storeName} is too full for ${quote(model)} to be removed from it; nothing was written`, {
      facts: ['the directory without it has to lie beside the present one until it is published'],
      next: 'copy the image to a larger drive; pack() always leaves room, so another program wrote this image',
    })
  }
}
