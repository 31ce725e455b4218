import { LoaderError } from '../error.js'
import type { DmaMemory, ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import { BufferedTransfers, type HostBuffer } from '../flow/buffers.js'
import {
  DEFAULT_READ_BYTES,
  piecesOf,
  type BlockStore,
  type StoreCopies,
  type StoreSummary,
  type StoreTransfer,
  type WritableBlockStore,
} from '../store/store.js'
import { bytesIn } from '../store/memory-bytes.js'

/** Size of a buffer. Together, the buffers keep a drive busy. */
const BUFFER_BYTES = 1024 * 1024
const MAX_BUFFERS = 16

type Facts = Pick<
  BlockStore,
  'name' | 'blockBytes' | 'capacityBytes' | 'saturationBytes' | 'optimalReadBytes' | 'dma' | 'clock' | 'movesData'
>

/**
 * Returns a store that can read into and write from memory that its controller cannot reach: the host copies every byte
 * through buffers. It is slower by that copy, and needed for drives with separate IOMMU mappings.
 */
export function bouncedStore(store: WritableBlockStore): WritableBlockStore
export function bouncedStore(store: BlockStore): BlockStore
export function bouncedStore(store: BlockStore): BlockStore {
  return isWritable(store) ? new WritableBouncedStore(store) : new BouncedStore(store)
}

/** Returns whether a store is writable. */
export function isWritable(store: BlockStore): store is WritableBlockStore {
  return 'write' in store && 'flush' in store
}

class BouncedStore<S extends BlockStore = BlockStore> implements BlockStore, Facts {
  protected readonly store: S

  constructor(store: S) {
    this.store = store
  }

  get name() {
    return this.store.name
  }

  get blockBytes() {
    return this.store.blockBytes
  }

  get capacityBytes() {
    return this.store.capacityBytes
  }

  get saturationBytes() {
    return this.store.saturationBytes
  }

  get optimalReadBytes() {
    return this.store.optimalReadBytes ?? DEFAULT_READ_BYTES
  }

  get dma() {
    return this.store.dma
  }

  get clock() {
    return this.store.clock
  }

  get movesData() {
    return this.store.movesData
  }

  get copies(): StoreCopies | undefined {
    const { copies } = this.store
    if (copies === undefined) return undefined
    const stores = copies.stores.map((copy) => bouncedStore(copy))
    return {
      stores,
      repaired: (offsetBytes, lengthBytes, wrong) => {
        const found = copies.stores.filter((_, copy) => wrong.includes(stores[copy]!))
        copies.repaired(offsetBytes, lengthBytes, found)
      },
    }
  }

  locate(offsetBytes: number, lengthBytes: number): string {
    return this.store.locate(offsetBytes, lengthBytes)
  }

  read(transfers: readonly StoreTransfer[], memory: DmaMemory, options?: ExecuteOptions): Promise<StoreSummary> {
    return this.bounce(transfers, memory, async (buffer, piece, bytes) => {
      const summary = await this.store.read([{ ...piece, memoryBytes: 0 }], buffer.memory, options)
      bytes.set(buffer.bytes.subarray(0, piece.lengthBytes))
      memory.forDevice(piece.memoryBytes, piece.lengthBytes)
      return summary
    })
  }

  /** Runs `move` for each piece, with its buffer and its bytes in the memory. */
  protected async bounce(
    transfers: readonly StoreTransfer[],
    memory: DmaMemory,
    move: (buffer: HostBuffer, piece: StoreTransfer, bytes: Uint8Array) => Promise<StoreSummary>,
  ): Promise<StoreSummary> {
    const { view } = memory
    if (view === undefined) throw memoryOutOfReach(this.name)
    const { clock, dma, blockBytes } = this.store
    const startNs = clock.now()
    const pieceBytes = Math.max(BUFFER_BYTES, blockBytes)
    const pieces = [...piecesOf(transfers, pieceBytes)]
    const longestBytes = pieces.reduce((max, { lengthBytes }) => Math.max(max, lengthBytes), blockBytes)
    let [bytes, commands] = [0, 0]
    await using moves = new BufferedTransfers(dma, Math.min(MAX_BUFFERS, pieces.length), longestBytes)
    await moves.each(pieces, async (piece, buffer) => {
      const summary = await move(buffer, piece, bytesIn({ view }, piece.memoryBytes, piece.lengthBytes))
      bytes += summary.bytes
      commands += summary.commands
    })
    return { bytes, commands, startNs, endNs: clock.now() }
  }
}

class WritableBouncedStore extends BouncedStore<WritableBlockStore> implements WritableBlockStore {
  write(transfers: readonly StoreTransfer[], memory: DmaMemory, options?: ExecuteOptions): Promise<StoreSummary> {
    return this.bounce(transfers, memory, (buffer, piece, bytes) => {
      memory.forHost(piece.memoryBytes, piece.lengthBytes)
      buffer.bytes.set(bytes)
      return this.store.write([{ ...piece, memoryBytes: 0 }], buffer.memory, options)
    })
  }

  flush(): Promise<void> {
    return this.store.flush()
  }
}

/** Error of memory that neither the drive nor the host can reach. Nothing was transferred. */
export function memoryOutOfReach(store: string): LoaderError {
  const headline = `${store} cannot reach this memory, and the host cannot copy to it`
  return new LoaderError('ERR_GPUNVME_MEMORY_OUT_OF_REACH', 'infeasible', headline, {
    facts: ['its addresses are valid for another member’s controller, and it has no view'],
    next: 'open the drives of the set without an IOMMU between them (transport sysfs), or use host memory',
  })
}
