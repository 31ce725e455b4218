import { callback, checkOptions, having, listOf, object, show, type Check } from '../arguments.js'
import type { CopyEngine, DeviceMemory, DmaMemory } from '@gpunvme/nvme-spec/transport'

/** What goes through host memory to a GPU. */
export interface ReadThrough {
  /** Host memory for `read`: with two or more, one is read into while others are copied from. The shortest counts. */
  readonly slots: readonly DmaMemory[]
  /** Such as `cuda.copyEngine()`. */
  readonly copies: CopyEngine
  readonly to: DeviceMemory
  /** Where in `to` the first byte goes; 0 when not given. */
  readonly toBytes?: number
  readonly lengthBytes: number
  /** Reads bytes from `fromBytes` on, of the `lengthBytes` there are, to the beginning of `slot`. */
  readonly read: (slot: DmaMemory, fromBytes: number, lengthBytes: number) => Promise<void>
}

const bytes: Check = (name, value) => {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return
  throw new RangeError(`${name}: expected a whole number of bytes from 0 on, got ${show(value)}`)
}
const checks = {
  slots: listOf('memory', object),
  copies: having('a CopyEngine, as cuda.copyEngine() gives it', ['copy']),
  to: object,
  toBytes: bytes,
  lengthBytes: bytes,
  read: callback,
}
const NEEDED = ['slots', 'copies', 'to', 'lengthBytes', 'read'] as const

/**
 * Tier 1: reads into host memory piece by piece, and copies each to GPU memory while the next is read. Pieces are as
 * long as a slot. Resolves when all of it has arrived; when it rejects, nothing is under way any more.
 * @throws TypeError, RangeError for wrong options, such as no slot; what `read` and the copies throw.
 */
export async function readThrough(options: ReadThrough): Promise<void> {
  checkOptions('readThrough', options, checks, NEEDED)
  const { slots, copies, to, toBytes = 0, lengthBytes, read } = options
  const pieceBytes = slots.reduce((least, slot) => Math.min(least, slot.lengthBytes), Infinity)
  if (slots.length === 0 || pieceBytes === 0) throw new TypeError('slots: expected host memory, got none')
  // Of each slot, the copy that was begun last from there.
  const under = slots.map(() => Promise.resolve())
  try {
    for (let at = 0, turn = 0; at < lengthBytes; at += pieceBytes, turn = (turn + 1) % slots.length) {
      const slot = slots[turn]!
      const bytes = Math.min(pieceBytes, lengthBytes - at)
      await under[turn]
      await read(slot, at, bytes)
      const copy = copies.copy(slot, 0, to, toBytes + at, bytes)
      under[turn] = copy
      // It is waited for later; until then its failure is nobody's.
      copy.catch(() => undefined)
    }
    await Promise.all(under)
  } catch (error) {
    await Promise.allSettled(under)
    throw error
  }
}
