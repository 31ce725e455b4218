import type { DmaMemory, ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import { together } from '../flow/together.js'
import { checkTransfers, DEFAULT_READ_BYTES, type BlockStore, type StoreSummary, type StoreTransfer } from './store.js'

/** Concatenated stores. */
export interface JoinedStore extends BlockStore {
  /** Offset of each joined store. */
  readonly starts: readonly number[]
}

/**
 * Concatenates stores, for example the files of a model with several. Memory is that of the first store; the others
 * must be able to read into it, as plain files and namespaces of one controller are.
 * @throws RangeError for no stores, or if a store's length is not a multiple of the largest block size.
 */
export function joinStores(stores: readonly BlockStore[]): JoinedStore {
  const [first] = stores
  if (first === undefined) throw new RangeError('stores: expected one or more, got none')
  const blockBytes = stores.reduce((max, store) => Math.max(max, store.blockBytes), 0)
  const starts: number[] = []
  let capacityBytes = 0
  for (const store of stores) {
    if (store.capacityBytes % blockBytes !== 0 || blockBytes % store.blockBytes !== 0) {
      throw new RangeError(
        `stores: expected whole blocks of ${blockBytes} bytes, got ${store.capacityBytes} bytes of ${store.name}`,
      )
    }
    starts.push(capacityBytes)
    capacityBytes += store.capacityBytes
  }
  return new Joined(stores, starts, blockBytes, capacityBytes)
}

class Joined implements JoinedStore {
  readonly starts: readonly number[]
  readonly blockBytes: number
  readonly capacityBytes: number
  private readonly stores: readonly BlockStore[]

  constructor(stores: readonly BlockStore[], starts: readonly number[], blockBytes: number, capacityBytes: number) {
    this.stores = stores
    this.starts = starts
    this.blockBytes = blockBytes
    this.capacityBytes = capacityBytes
  }

  get name() {
    const [first] = this.stores
    return this.stores.length === 1 ? first!.name : `${first!.name} and ${this.stores.length - 1} more`
  }

  get saturationBytes() {
    return this.stores.reduce((max, { saturationBytes }) => Math.max(max, saturationBytes), 0)
  }

  get optimalReadBytes() {
    return this.stores.reduce((max, { optimalReadBytes = DEFAULT_READ_BYTES }) => Math.max(max, optimalReadBytes), 0)
  }

  get dma() {
    return this.stores[0]!.dma
  }

  get clock() {
    return this.stores[0]!.clock
  }

  get movesData() {
    return this.stores.some(({ movesData }) => movesData === false) ? false : undefined
  }

  async read(transfers: readonly StoreTransfer[], memory: DmaMemory, options?: ExecuteOptions): Promise<StoreSummary> {
    checkTransfers(this, transfers, memory)
    const shares = this.stores.map((): StoreTransfer[] => [])
    for (const { offsetBytes, lengthBytes, memoryBytes } of transfers) {
      for (const [index, part] of this.partsOf(offsetBytes, lengthBytes)) {
        shares[index]!.push({
          ...part,
          memoryBytes: memoryBytes + (this.starts[index]! + part.offsetBytes - offsetBytes),
        })
      }
    }
    const requests = this.stores.flatMap((store, index) =>
      shares[index]!.length > 0 ? [{ store, share: shares[index]! }] : [],
    )
    const summaries = await together(
      requests.map(
        ({ store, share }) =>
          (signal) =>
            store.read(share, memory, { ...options, signal }),
      ),
      options?.signal,
    )
    return {
      bytes: summaries.reduce((sum, { bytes }) => sum + bytes, 0),
      commands: summaries.reduce((sum, { commands }) => sum + commands, 0),
      startNs: summaries.reduce((min, { startNs }) => Math.min(min, startNs), Infinity),
      endNs: summaries.reduce((max, { endNs }) => Math.max(max, endNs), 0),
      devices: summaries.map(({ bytes, commands }, index) => ({ name: requests[index]!.store.name, bytes, commands })),
    }
  }

  locate(offsetBytes: number, lengthBytes: number): string {
    return this.partsOf(offsetBytes, lengthBytes)
      .map(([index, part]) => this.stores[index]!.locate(part.offsetBytes, part.lengthBytes))
      .join('; ')
  }

  /** Returns the stores that a range covers, with the part in each. */
  private partsOf(
    offsetBytes: number,
    lengthBytes: number,
  ): [index: number, part: Omit<StoreTransfer, 'memoryBytes'>][] {
    const parts: [number, Omit<StoreTransfer, 'memoryBytes'>][] = []
    const endBytes = offsetBytes + lengthBytes
    for (const [index, start] of this.starts.entries()) {
      const from = Math.max(offsetBytes, start)
      const to = Math.min(endBytes, start + this.stores[index]!.capacityBytes)
      if (from < to) parts.push([index, { offsetBytes: from - start, lengthBytes: to - from }])
    }
    return parts
  }
}
