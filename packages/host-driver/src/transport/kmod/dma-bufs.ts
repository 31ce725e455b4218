import type { DmaSegment } from '@gpunvme/nvme-spec/transport'
import { ImportDmaBuf, Memory } from './abi.js'
import { call, releaseHandle, unlessRemoved, type KmodNode } from './call.js'
import type { SegmentTable } from './segment-table.js'

/** A dma-buf that is mapped for the controller. It stays mapped after its descriptor is closed. */
export interface KmodDmaBuf {
  readonly lengthBytes: number
  /** Its device addresses, with any IOMMU setting; in offset order, adjacent runs merged. */
  readonly segments: readonly DmaSegment[]
  /** Whether its exporter has revoked the memory. The controller was stopped before that. */
  readonly isRevoked: boolean
  /** Ends the controller's access and releases the memory. No effect if the transport is closed, which does this. */
  detach(): void
}

interface Imported {
  readonly handle: number
  isRevoked: boolean
}

/**
 * Memory of other devices by dma-bufs: the importer for `dmaBufProvider` of `@gpunvme/cuda-native/vram`. Attachments
 * allow peer-to-peer access, which exporters of GPU memory require, and revocation.
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
   * Maps a dma-buf of `lengthBytes` for reads and writes by the controller.
   * @throws RangeError if it has another length; DriverError: KMOD if the exporter or the kernel refuses, or `fd` is
   *   not a dma-buf; KMOD_REMOVED. Nothing stays attached then.
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
      throw new RangeError(`lengthBytes: expected ${LENGTH}, the length of the dma-buf, got ${lengthBytes}`)
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

  /** Checks which of them were revoked. If the controller is gone, all keep their state. */
  look(): void {
    for (const imported of this.held) {
      const answer = Memory.create({ SIZE: Memory.bytes, HANDLE: imported.handle })
      unlessRemoved(() => call(this.node, 'GET_MEMORY', answer.data))
      imported.isRevoked ||= answer.REVOKED === 1
    }
  }
}
