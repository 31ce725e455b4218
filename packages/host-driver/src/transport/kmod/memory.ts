import type { DmaAllocator, DmaMemory, DmaRequest, DmaSegment, NativeRegion } from '@gpunvme/nvme-spec/transport'
import { hasCode } from '../../error.js'
import { DmaArena, type DmaChunk } from '../dma-arena.js'
import { accessing } from '../hardware-access.js'
import { allocateLocked, HUGE_PAGE_BYTES, memlockExceeded } from '../locked-memory.js'
import { AllocCoherent, MAX_COHERENT_LENGTH, MAX_LENGTH, PinUser } from './abi.js'
import { call, releaseHandle, type KmodNode } from './call.js'
import type { SegmentTable } from './segment-table.js'

/** Unit of kernel memory: small, since it must be contiguous, and enough for a queue pair. */
const COHERENT_GRANULE_BYTES = 262_144

/**
 * Memory of the module. Contiguous memory, as queues need, is the kernel's. All other memory belongs to this process
 * and is pinned in place. Addresses are those of the kernel's DMA interface, with any IOMMU setting.
 */
export class KmodMemory implements DmaAllocator {
  private readonly node: KmodNode
  private readonly sysRoot: string
  private readonly pageBytes: 4096 | typeof HUGE_PAGE_BYTES
  private readonly table: SegmentTable
  private readonly coherent: DmaArena
  private readonly pinned: DmaArena
  /** Bytes that are held, in whole chunks. */
  private readonly heldBytes = { coherent: 0, pinned: 0 }
  private isEnding = false

  constructor(node: KmodNode, table: SegmentTable, sysRoot: string, pageBytes: 4096 | typeof HUGE_PAGE_BYTES) {
    this.node = node
    this.sysRoot = sysRoot
    this.pageBytes = pageBytes
    this.table = table
    this.coherent = new DmaArena({
      granuleBytes: COHERENT_GRANULE_BYTES,
      // The kernel aligns such memory to its own length.
      chunk: (lengthBytes, alignBytes) => this.coherentChunk(Math.max(lengthBytes, alignBytes)),
    })
    this.pinned = new DmaArena({
      granuleBytes: HUGE_PAGE_BYTES,
      chunk: (lengthBytes) => this.pinnedChunk(lengthBytes),
    })
  }

  alloc(lengthBytes: number, request: DmaRequest = {}): DmaMemory {
    const { contiguous = false, alignBytes = this.pageBytes } = request
    const arena = contiguous || alignBytes > this.pageBytes ? this.coherent : this.pinned
    return arena.alloc(lengthBytes, request)
  }

  /**
   * Unmaps all of it from this process. When the node is closed, the kernel makes sure that the controller has stopped
   * before it ends its access; until then, none of the memory is reused.
   */
  close(): void {
    this.isEnding = true
    this.coherent.close()
    this.pinned.close()
  }

  private coherentChunk(lengthBytes: number): DmaChunk {
    checkLength(lengthBytes, MAX_COHERENT_LENGTH)
    const argument = AllocCoherent.create({ SIZE: AllocCoherent.bytes, LENGTH: lengthBytes })
    this.limited(lengthBytes, () => call(this.node, 'ALLOC_COHERENT', argument.data))
    const { HANDLE, IOVA, MMAP_OFFSET } = argument
    let region: NativeRegion
    try {
      const { host, bdf, path, fd } = this.node
      region = accessing(bdf, path, () => host.map(fd, MMAP_OFFSET, lengthBytes, 'read-write'))
    } catch (error) {
      releaseHandle(this.node, HANDLE)
      throw error
    }
    this.heldBytes.coherent += lengthBytes
    const release = () => {
      // First, since the kernel keeps memory that is still mapped.
      region.unmap()
      this.giveBack(HANDLE)
      this.heldBytes.coherent -= lengthBytes
    }
    return { buffer: region.buffer, lengthBytes, segments: [{ offsetBytes: 0, iova: IOVA, lengthBytes }], release }
  }

  private pinnedChunk(lengthBytes: number): DmaChunk {
    checkLength(lengthBytes, MAX_LENGTH)
    const { node, sysRoot, pageBytes } = this
    const region = allocateLocked(node.host, sysRoot, lengthBytes, pageBytes, this.memlockBytes(lengthBytes))
    const argument = PinUser.create({
      SIZE: PinUser.bytes,
      FLAGS: { READS: 1, WRITES: 1 },
      ADDRESS: region.address,
      LENGTH: lengthBytes,
    })
    let segments: readonly DmaSegment[]
    try {
      segments = this.limited(lengthBytes, () => this.table.request('PIN_USER', argument))
    } catch (error) {
      region.unmap()
      throw error
    }
    this.heldBytes.pinned += lengthBytes
    const release = () => {
      // First, since memory must stay mapped while it is pinned for the controller.
      this.giveBack(argument.HANDLE)
      region.unmap()
      this.heldBytes.pinned -= lengthBytes
    }
    return { buffer: region.buffer, lengthBytes, segments, release }
  }

  /** Frees the memory of a handle. Closing the node frees all remaining memory. */
  private giveBack(handle: number): void {
    if (!this.isEnding) releaseHandle(this.node, handle)
  }

  /** Makes a request for `lengthBytes` that counts against RLIMIT_MEMLOCK. @throws DriverError (MEMLOCK_LIMIT) */
  private limited<T>(lengthBytes: number, request: () => T): T {
    try {
      return request()
    } catch (error) {
      if (!hasCode(error, 'ERR_GPUNVME_KMOD', 'ENOLCK')) throw error
      throw memlockExceeded(this.memlockBytes(lengthBytes), this.node.host.memlockLimitBytes(), error)
    }
  }

  /**
   * Returns what counts against RLIMIT_MEMLOCK with `lengthBytes` more. The kernel counts locked and pinned memory
   * separately, each up to the limit. Pinned memory includes that of the kernel, which the first queues need.
   */
  private memlockBytes(lengthBytes: number): number {
    const { coherent, pinned } = this.heldBytes
    return Math.max(coherent, COHERENT_GRANULE_BYTES) + pinned + lengthBytes
  }
}

/** Checks a length. @throws RangeError */
function checkLength(lengthBytes: number, maxBytes: number): void {
  if (lengthBytes > maxBytes)
    throw new RangeError(`lengthBytes: expected at most ${maxBytes} in one piece, got ${lengthBytes}`)
}
