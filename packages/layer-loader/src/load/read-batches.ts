import { DEFAULT_READ_BYTES, type BlockStore, type StoreTransfer } from '../store/store.js'

/** The unit of reading: between two batches, a loader chooses the most urgent request. */
export interface ReadBatch {
  readonly transfers: readonly StoreTransfer[]
  readonly bytes: number
  /** End of its bytes in memory. They begin at the end of the previous batch. */
  readonly endBytes: number
}

/** Returns the length of batches of a store: a multiple of image chunks and of all block sizes. */
export function batchBytes({ optimalReadBytes = DEFAULT_READ_BYTES }: Pick<BlockStore, 'optimalReadBytes'>): number {
  return Math.max(1, Math.round(optimalReadBytes / DEFAULT_READ_BYTES)) * DEFAULT_READ_BYTES
}

/**
 * Cuts transfers, which are contiguous in memory, into batches of at most `batchBytes`: long ones are cut, short ones are
 * read together.
 * @param batchBytes a multiple of the store's blocks and of the checked chunks, so that few chunks cross a cut.
 */
export function splitIntoBatches(transfers: readonly StoreTransfer[], batchBytes: number): ReadBatch[] {
  const batches: ReadBatch[] = []
  let open: StoreTransfer[] = []
  let bytes = 0
  const close = () => {
    const last = open.at(-1)
    if (last !== undefined) batches.push({ transfers: open, bytes, endBytes: last.memoryBytes + last.lengthBytes })
    open = []
    bytes = 0
  }
  for (const { offsetBytes, lengthBytes, memoryBytes } of transfers) {
    for (let done = 0; done < lengthBytes;) {
      if (bytes === batchBytes) close()
      const taken = Math.min(lengthBytes - done, batchBytes - bytes)
      open.push({ offsetBytes: offsetBytes + done, lengthBytes: taken, memoryBytes: memoryBytes + done })
      bytes += taken
      done += taken
    }
  }
  close()
  return batches
}
