import type { Clock, DmaAllocator, DmaMemory, ExecuteOptions } from '@gpunvme/nvme-spec/transport'

/** A run of a store, and the place of its bytes in memory. */
export interface StoreTransfer {
  /** Offset from the start of the store; a multiple of its `blockBytes`. */
  readonly offsetBytes: number
  /** Length; a multiple of the store's `blockBytes`, more than 0. */
  readonly lengthBytes: number
  /** Offset in the memory. */
  readonly memoryBytes: number
}

/** Length from which reads of one drive have no higher rate. */
export const DEFAULT_READ_BYTES = 1024 * 1024

/** Totals of a successful call. Failures are thrown. */
export interface StoreSummary {
  readonly bytes: number
  /** Commands to controllers; for a file, calls that read or write it. */
  readonly commands: number
  /** First submission and last end, by the store's clock. */
  readonly startNs: number
  readonly endNs: number
  /** Shares of devices; absent if the store is a single device. */
  readonly devices?: readonly DeviceShare[]
}

/** Range of memory whose CRC-32/ISO-HDLC is to be computed. */
export interface MemoryRange {
  readonly memoryBytes: number
  readonly lengthBytes: number
}

/**
 * Totals of a read, and the checksums that were computed on the way, in the order of their ranges; others are
 * undefined.
 */
export interface ChecksummedSummary extends StoreSummary {
  readonly crc32s: readonly (number | undefined)[]
}

/** Share of one device of a set in a call. */
export interface DeviceShare {
  /** Name of the member's store (`BlockStore.name`). */
  readonly name: string
  readonly bytes: number
  readonly commands: number
  /** Bytes copied by the host because the device cannot reach the memory; absent if it can. */
  readonly bouncedBytes?: number
}

/** A store that has the same data several times. */
export interface StoreCopies {
  /** Each copy as a store of the same bytes at the same offsets. */
  readonly stores: readonly BlockStore[]
  /**
   * Records that a read returned bytes with a wrong checksum, and that they were read from another copy.
   * @param wrong copies whose bytes were wrong again; none if all were right
   */
  repaired(offsetBytes: number, lengthBytes: number, wrong: readonly BlockStore[]): void
}

/**
 * A readable block store: a namespace, several combined, or a plain file. Images, packers and loaders work on it. By
 * its type, it cannot write.
 *
 * Implementers: a call transfers all bytes or throws, and does not touch the memory after it has settled. Calls may
 * overlap, and are started in order. Throw `RangeError` for ranges outside the store (`checkTransfers` does).
 */
export interface BlockStore {
  /** Name for messages: 'namespace 1', a path, 'stripe of 2'. */
  readonly name: string
  /** Offsets and lengths of transfers are multiples of this. */
  readonly blockBytes: number
  readonly capacityBytes: number
  /** Bytes in flight that keep it busy: reading further ahead is not faster. */
  readonly saturationBytes: number
  /** Length from which reads have no higher rate. Default: `DEFAULT_READ_BYTES`. */
  readonly optimalReadBytes?: number
  /** Allocates memory that it can read into. */
  readonly dma: DmaAllocator
  readonly clock: Clock
  /** False if transfers complete without moving bytes, as in some simulations; loaders and packers then refuse. */
  readonly movesData: false | undefined
  /**
   * Reads all transfers into `memory`.
   * @throws RangeError; for a namespace, TransferError; the signal's reason.
   */
  read(transfers: readonly StoreTransfer[], memory: DmaMemory, options?: ExecuteOptions): Promise<StoreSummary>
  /**
   * Reads as `read`, and computes checksums while the bytes are in the processor's cache. Absent if the store cannot.
   * @param ranges in the order of memory
   */
  readonly readChecksummed?:
    | ((
        transfers: readonly StoreTransfer[],
        memory: DmaMemory,
        ranges: readonly MemoryRange[],
        options?: ExecuteOptions,
      ) => Promise<ChecksummedSummary>)
    | undefined
  /** Absent if there is only one copy of the data. */
  readonly copies?: StoreCopies | undefined
  /** Names the location of bytes as the devices do: 'NSID 1  LBA 0x800 to 0x80f'. For messages. */
  locate(offsetBytes: number, lengthBytes: number): string
}

/** A writable store. The drive's write guard has passed, or will before the first byte. */
export interface WritableBlockStore extends BlockStore {
  /** Identifies the medium: equal for two stores over the same bytes, so that only one of them is packed to at a time.
   * Default: the store object itself. */
  readonly mediumId?: string
  /**
   * Writes all transfers from `memory`. They are durable only after `flush`.
   * @throws the errors of `read`.
   */
  write(transfers: readonly StoreTransfer[], memory: DmaMemory, options?: ExecuteOptions): Promise<StoreSummary>
  /** Makes earlier writes durable. */
  flush(): Promise<void>
}

/** Yields transfers in pieces of `pieceBytes`; the last piece of each may be shorter. */
export function* piecesOf(transfers: Iterable<StoreTransfer>, pieceBytes: number): Generator<StoreTransfer> {
  for (const { offsetBytes, lengthBytes, memoryBytes } of transfers) {
    for (let done = 0; done < lengthBytes; done += pieceBytes) {
      yield {
        offsetBytes: offsetBytes + done,
        lengthBytes: Math.min(pieceBytes, lengthBytes - done),
        memoryBytes: memoryBytes + done,
      }
    }
  }
}

/** @throws RangeError for a transfer that is not a whole number of blocks inside `store` and `memory`. */
export function checkTransfers(
  store: Pick<BlockStore, 'name' | 'blockBytes' | 'capacityBytes'>,
  transfers: readonly StoreTransfer[],
  memory: Pick<DmaMemory, 'lengthBytes'>,
): void {
  const { blockBytes, capacityBytes } = store
  for (const { offsetBytes, lengthBytes, memoryBytes } of transfers) {
    const whole = [offsetBytes, lengthBytes].every((n) => Number.isSafeInteger(n) && n >= 0 && n % blockBytes === 0)
    if (!whole || lengthBytes === 0) {
      throw new RangeError(
        `${store.name}: expected whole blocks of ${blockBytes} bytes, got ${lengthBytes} bytes from ${offsetBytes}`,
      )
    }
    if (lengthBytes > capacityBytes - offsetBytes) {
      throw new RangeError(
        `${store.name}: expected a range inside 0 to ${capacityBytes} bytes, got ${lengthBytes} bytes from ${offsetBytes}`,
      )
    }
    if (!Number.isSafeInteger(memoryBytes) || memoryBytes < 0 || lengthBytes > memory.lengthBytes - memoryBytes) {
      throw new RangeError(
        `${store.name}: expected memory for bytes ${memoryBytes} to ${memoryBytes + lengthBytes}, got ${memory.lengthBytes} bytes`,
      )
    }
  }
}
