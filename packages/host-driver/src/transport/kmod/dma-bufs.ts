import type { DmaSegment } from '@gpunvme/nvme-spec/transport'
import { ImportDmaBuf, Memory } from './abi.js'
import { call, releaseHandle, unlessRemoved, type KmodNode } from './call.js'
import type { SegmentTable } from './segment-table.js'

/** A dma-buf that is mapped for the controller. It outlives the descriptor that it came by. */
export interface KmodDmaBuf {
  readonly lengthBytes: number
  /** Where the controller finds it, whatever IOMMU there is; in offset order, adjacent runs merged. */
  readonly segments: readonly DmaSegment[]
  /** Whether its exporter has taken the memory back. The controller was stopped before that. */
  readonly isRevoked: boolean
  /** Ends the controller's access, and lets go of the memory. Where the transport is closed, that is done already. */
  detach(): void
}

interface Imported {
  readonly handle: number
  isRevoked: boolean
}

/**
 * Other devices' memory, by their dma-bufs: `dmaBufProvider` of `@gpunvme/cuda-native/vram` takes it as its importer. The
 * attachment allows peer-to-peer, which exporters of GPU memory ask for, and lets them take the memory back.
 */
export class KmodDmaBufs {
  private readonly node: KmodNode
  private readonly table: SegmentTable
  private readonly held = new Set<Imported>()

  constructor(node: KmodNode, table: SegmentTable) {
    this.node = node
    this.table = table
  }

  /**
   * Maps a dma-buf of `lengthBytes` for the controller, for reading and writing.
   * @throws RangeError for one of another length; KmodError where the exporter or the kernel refuses, or `fd` is none;
   *   KmodRemovedError. Nothing stays attached then.
   */
  attach(fd: number, lengthBytes: number): KmodDmaBuf {
    const { node } = this
    const argument = ImportDmaBuf.create({
      SIZE: ImportDmaBuf.bytes,
      FLAGS: { READS: 1, WRITES: 1, DYNAMIC: 1 },
      FD: fd,
    })
    const segments = this.table.request('IMPORT_DMABUF', argument)
    const { HANDLE, LENGTH } = argument
    if (LENGTH !== lengthBytes) {
      releaseHandle(node, HANDLE)
      throw new RangeError(`lengthBytes: expected ${LENGTH}, which the dma-buf has, got ${lengthBytes}`)
    }
    const imported: Imported = { handle: HANDLE, isRevoked: false }
    this.held.add(imported)
    return {
      lengthBytes,
      segments,
      get isRevoked() {
        return imported.isRevoked
      },
      detach: () => {
        if (!this.held.has(imported)) throw new TypeError('this dma-buf was detached')
        if (node.isOpen) releaseHandle(node, HANDLE)
        this.held.delete(imported)
      },
    }
  }

  /** Looks which of them have lost their memory; of a controller that is gone, all keep what they were. */
  look(): void {
    for (const imported of this.held) {
      const answer = Memory.create({ SIZE: Memory.bytes, HANDLE: imported.handle })
      unlessRemoved(() => call(this.node, 'GET_MEMORY', answer.data))
      imported.isRevoked ||= answer.REVOKED === 1
    }
  }
}
