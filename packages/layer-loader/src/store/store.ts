import type { Clock, DmaAllocator, DmaMemory, ExecuteOptions } from '@gpunvme/nvme-spec/transport'

/** A run of a store, and where in memory its bytes belong. */
export interface StoreTransfer {
  /** From the start of the store; a multiple of its `blockBytes`. */
  readonly offsetBytes: number
  /** A multiple of the store's `blockBytes`, and more than 0. */
  readonly lengthBytes: number
  /** Where the first byte lies in the memory. */
  readonly memoryBytes: number
}

/** What a call to a store has moved. Every byte of it: what did not succeed is thrown. */
export interface StoreSummary {
  readonly bytes: number
  /** Commands to controllers; system calls to a file. */
  readonly commands: number
  /** By the store's clock: the first submission, and the last end. */
  readonly startNs: number
  readonly endNs: number
  /** How much came from which device; absent where there is only one, which is the store. */
  readonly devices?: readonly DeviceShare[]
}

/** What one device of a set had to do with a call. */
export interface DeviceShare {
  /** As `BlockStore.name` of the member. */
  readonly name: string
  readonly bytes: number
  readonly commands: number
  /** How much of it the host has copied, since the device does not reach the memory; absent where it does. */
  readonly bouncedBytes?: number
}

/**
 * Blocks that can be read: a namespace, several of them as one, a plain file. It is what images, packers and loaders
 * work on. It cannot write, by type.
 *
 * Implementers: a call gives every byte or throws, and nothing of it touches the memory after it has settled; calls may
 * overlap in time, and are begun in order. Throw `RangeError` for what is not inside the store (`checkTransfers` does).
 */
export interface BlockStore {
  /** For messages: 'namespace 1', a path, 'stripe of 2'. */
  readonly name: string
  /** What offsets and lengths of transfers are multiples of. */
  readonly blockBytes: number
  readonly capacityBytes: number
  /** How many bytes in flight keep it busy: reading ahead further makes nothing faster. */
  readonly busyBytes: number
  /** Where memory comes from that it can read into. */
  readonly dma: DmaAllocator
  readonly clock: Clock
  /** False where transfers complete without their bytes being moved, as a simulation may: whoever hands out data refuses. */
  readonly movesData: false | undefined
  /**
   * Brings all of the transfers into `memory`.
   * @throws RangeError; of a namespace TransferError; the signal's reason.
   */
  read(transfers: readonly StoreTransfer[], memory: DmaMemory, options?: ExecuteOptions): Promise<StoreSummary>
  /** Where bytes lie, in the words of the devices that hold them: 'NSID 1  LBA 0x800 to 0x80f'. For messages. */
  locate(offsetBytes: number, lengthBytes: number): string
}

/** A store that may be written to: what holds the drive has passed its guard, or will before the first byte. */
export interface WritableBlockStore extends BlockStore {
  /**
   * Brings all of the transfers from `memory` to the store. They are durable only after `flush`.
   * @throws as `read`.
   */
  write(transfers: readonly StoreTransfer[], memory: DmaMemory, options?: ExecuteOptions): Promise<StoreSummary>
  flush(): Promise<void>
}

/** @throws RangeError for a transfer that is not a whole number of blocks inside `store` and inside `memory`. */
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
        `${store.name}: expected memory that holds bytes ${memoryBytes} to ${memoryBytes + lengthBytes}, got ${memory.lengthBytes} bytes`,
      )
    }
  }
}
