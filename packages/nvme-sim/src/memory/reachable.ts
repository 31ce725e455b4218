/** What the controller is about to do with memory: a host may map some of it for reading alone. */
export type MemoryAccess = 'read' | 'write'

/** The host's memory as the controller reaches it: by device address, most of them with nothing behind. */
export interface ReachableMemory {
  /**
   * The bytes at device address `iova`, where they are one piece. Undefined where not all of them are memory, or may not
   * be accessed so ('read' when not given), or where they lie in several pieces: then `pieces` has them. The same bytes,
   * not a copy.
   */
  bytes(iova: number, lengthBytes: number, access?: MemoryAccess): Uint8Array | undefined
  /**
   * The same bytes as the pieces that they lie in, in order: addresses that follow each other may lead to different
   * files of a host. Every piece may be accessed so. Undefined where `has` says false. Each call makes a list: `bytes`
   * comes first wherever time matters.
   */
  pieces(iova: number, lengthBytes: number, access?: MemoryAccess): readonly Uint8Array[] | undefined
  /** Whether all of these bytes are memory that may be accessed so, in however many pieces. */
  has(iova: number, lengthBytes: number, access?: MemoryAccess): boolean
  /** In words, for bytes that are not all memory, or may not be accessed so: what is there instead. */
  lack(iova: number, lengthBytes: number, access?: MemoryAccess): string
}

/** Who memory is looked at for, in words that are made only where something is wrong. */
export interface Asker {
  words(): string
}
