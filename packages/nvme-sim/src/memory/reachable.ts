/** What the controller is about to do with memory: a host may map some of it for reading alone. */
export type MemoryAccess = 'read' | 'write'

/** The host's memory as the controller reaches it: by device address, most of them with nothing behind. */
export interface ReachableMemory {
  /**
   * The bytes at device address `iova`, or undefined where not all of them are memory, or may not be accessed so ('read'
   * when not given). The same bytes, not a copy.
   */
  bytes(iova: number, lengthBytes: number, access?: MemoryAccess): Uint8Array | undefined
  /** Whether all of these bytes are memory that may be accessed so. */
  has(iova: number, lengthBytes: number, access?: MemoryAccess): boolean
  /** In words, for bytes that are not all memory: what is there instead. */
  lack(iova: number, lengthBytes: number): string
}

/** Who memory is looked at for, in words that are made only where something is wrong. */
export interface Asker {
  words(): string
}
