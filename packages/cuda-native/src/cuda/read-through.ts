import { callback, checkOptions, having, listOf, object, show, type Check } from '../arguments.js'
import type { CopyEngine, DeviceMemory, DmaMemory } from '@gpunvme/nvme-spec/transport'

/** Options of `readThrough`. */
export interface ReadThrough {
  /** Host memory for `read`. With two or more, reads and copies overlap. The shortest determines the length of a piece. */
  readonly slots: readonly DmaMemory[]
  /** Copies to the GPU, such as `cuda.copyEngine()`. */
  readonly copies: CopyEngine
  /** Memory on the GPU. */
  readonly to: DeviceMemory
  /** Offset in `to` of the first byte. Default: 0. */
  readonly toBytes?: number
  /** Number of bytes in total. */
  readonly lengthBytes: number
  /** Reads `lengthBytes` bytes from offset `fromBytes` of the data to the start of `slot`. */
  readonly read: (slot: DmaMemory, fromBytes: number, lengthBytes: number) => Promise<void>
}

const bytes: Check = (name, value) => {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return
  throw new RangeError(`${name}: expected a whole number of bytes, 0 or more, got ${show(value)}`)
}
const checks = {
  slots: listOf('memory', object),
  copies: having('a CopyEngine, such as cuda.copyEngine()', ['copy']),
  to: object,
  toBytes: bytes,
  lengthBytes: bytes,
  read: callback,
}
const NEEDED = ['slots', 'copies', 'to', 'lengthBytes', 'read'] as const

/**
 * Reads data into host memory piece by piece, and copies each piece to GPU memory while the next is read (tier 1). A piece is
 * as long as the shortest slot. Resolves when all data have arrived. When it rejects, no read or copy is in progress.
 * @throws TypeError, RangeError for invalid options; errors of `read` and of the copies.
 */
export async function readThrough(options: ReadThrough): Promise<void> {
  checkOptions('readThrough', options, checks, NEEDED)
  const { slots, copies, to, toBytes = 0, lengthBytes, read } = options
  const pieceBytes = slots.reduce((min, slot) => Math.min(min, slot.lengthBytes), Infinity)
  if (slots.length === 0 || pieceBytes === 0) throw new TypeError('slots: expected host memory, got none')
  // The latest copy from each slot.
  const under = slots.map(() => Promise.resolve())
  try {
    for (let at = 0, turn = 0; at < lengthBytes; at += pieceBytes, turn = (turn + 1) % slots.length) {
      const slot = slots[turn]!
      const bytes = Math.min(pieceBytes, lengthBytes - at)
      await under[turn]
      await read(slot, at, bytes)
      const copy = copies.copy(slot, 0, to, toBytes + at, bytes)
      under[turn] = copy
      // Awaited later: until then a failure must not count as unhandled.
      copy.catch(() => undefined)
    }
    await Promise.all(under)
  } catch (error) {
    await Promise.allSettled(under)
    throw error
  }
}
