/** The host's memory as the controller reaches it: by device address, most of them with nothing behind. */
export interface ReachableMemory {
  /** The bytes at device address `iova`, or undefined where not all of them are memory. The same bytes, not a copy. */
  bytes(iova: number, lengthBytes: number): Uint8Array | undefined
  /** Whether all of these bytes are memory. */
  has(iova: number, lengthBytes: number): boolean
}
