/** The controller's access to memory: a host may map some of it read-only. */
export type MemoryAccess = 'read' | 'write'

/** Host memory by device address, as accessible to the controller; most addresses are unmapped. */
export interface ReachableMemory {
  /**
   * Returns the bytes at device address `iova` if they are contiguous: the same memory, not a copy. Undefined if some
   * are unmapped or not accessible (default access: 'read'), or if they are in several pieces, which `pieces` returns.
   */
  bytes(iova: number, lengthBytes: number, access?: MemoryAccess): Uint8Array | undefined
  /**
   * Returns the same bytes as a list of contiguous pieces, in order: adjacent addresses may belong to different files
   * of a host. All pieces are accessible; undefined if `has` is false. Allocates a list, so use `bytes` first where
   * time matters.
   */
  pieces(iova: number, lengthBytes: number, access?: MemoryAccess): readonly Uint8Array[] | undefined
  /** Whether all of these bytes are accessible memory, in any number of pieces. */
  has(iova: number, lengthBytes: number, access?: MemoryAccess): boolean
  /** Describes why some of these bytes are not accessible memory. */
  explainUnmapped(iova: number, lengthBytes: number, access?: MemoryAccess): string
}

/** The requester of a memory access. Its description is built only if something is wrong. */
export interface Requester {
  describe(): string
}
