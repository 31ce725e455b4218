/** The host's memory as the controller reaches it: by device address, most of them with nothing behind. */
export interface ReachableMemory {
  /** The bytes at device address `iova`, or undefined where not all of them are memory. The same bytes, not a copy. */
  bytes(iova: number, lengthBytes: number): Uint8Array | undefined
  /** Whether all of these bytes are memory. */
  has(iova: number, lengthBytes: number): boolean
  /** In words, for bytes that are not all memory: what is there instead. */
  lack(iova: number, lengthBytes: number): string
}

/** Who memory is looked at for, in words that are made only where something is wrong. */
export interface Asker {
  words(): string
}
