import { DEFAULT_PIECE_BYTES, type BlockStore, type StoreTransfer } from '../store/store.js'

/** The unit of reading: between two bites, a loader chooses the most urgent request. */
export interface Bite {
  readonly transfers: readonly StoreTransfer[]
  readonly bytes: number
  /** End of its bytes in memory. They begin at the end of the previous bite. */
  readonly endBytes: number
}

/** Returns the length of bites of a store: a multiple of image chunks and of all block sizes. */
export function biteBytes({ pieceBytes = DEFAULT_PIECE_BYTES }: Pick<BlockStore, 'pieceBytes'>): number {
  return Math.max(1, Math.round(pieceBytes / DEFAULT_PIECE_BYTES)) * DEFAULT_PIECE_BYTES
}

/**
 * Cuts transfers, which are contiguous in memory, into bites of at most `biteBytes`: long ones are cut, short ones are
 * read together.
 * @param biteBytes a multiple of the store's blocks and of the checked chunks, so that few chunks cross a cut.
 */
export function cutBites(transfers: readonly StoreTransfer[], biteBytes: number): Bite[] {
  const bites: Bite[] = []
  let open: StoreTransfer[] = []
  let bytes = 0
  const close = () => {
    const last = open.at(-1)
    if (last !== undefined) bites.push({ transfers: open, bytes, endBytes: last.memoryBytes + last.lengthBytes })
    open = []
    bytes = 0
  }
  for (const { offsetBytes, lengthBytes, memoryBytes } of transfers) {
    for (let done = 0; done < lengthBytes;) {
      if (bytes === biteBytes) close()
      const taken = Math.min(lengthBytes - done, biteBytes - bytes)
      open.push({ offsetBytes: offsetBytes + done, lengthBytes: taken, memoryBytes: memoryBytes + done })
      bytes += taken
      done += taken
    }
  }
  close()
  return bites
}
