import type { DmaAllocator, DmaMemory } from '@gpunvme/nvme-spec/transport'
import { fail } from './check.js'

/** Value of memory before a read, to detect missing bytes and bytes outside the transfer. */
export const UNTOUCHED = 0xa5

const PAGE_BYTES = 4096

/** Returns a range of memory, which the host must be able to access. */
export function hostBytes({ view, lengthBytes }: DmaMemory, offset = 0, length = lengthBytes): Uint8Array {
  if (view === undefined) return fail('expected: memory that the host can access')
  return new Uint8Array(view.buffer, view.byteOffset + offset, length)
}

/** Returns byte `position` of the data of a seed. It differs from most nearby bytes. */
function byteAt(seed: number, position: number): number {
  const mixed = Math.imul((position >>> 2) ^ Math.imul(seed + 1, 0x9e37_79b1), 0x85eb_ca6b)
  return ((mixed ^ (mixed >>> 13)) >>> (8 * (position & 3))) & 0xff
}

/** Fills part of a memory with the data of `seed`, from its byte `position` on. */
export function fillData(memory: DmaMemory, seed: number, position = 0, offset = 0, length?: number): void {
  const bytes = hostBytes(memory, offset, length ?? memory.lengthBytes - offset)
  for (let index = 0; index < bytes.length; index++) bytes[index] = byteAt(seed, position + index)
  memory.forDevice(0, memory.lengthBytes)
}

/** Overwrites all bytes of a memory, so that later data can be recognized. */
export function clearData(memory: DmaMemory): void {
  hostBytes(memory).fill(UNTOUCHED)
  memory.forDevice(0, memory.lengthBytes)
}

/** Checks that part of a memory holds the data of `seed`, from its byte `position` on. */
export function checkData(memory: DmaMemory, seed: number, position = 0, offset = 0, length?: number): void {
  memory.forHost(0, memory.lengthBytes)
  const bytes = hostBytes(memory, offset, length ?? memory.lengthBytes - offset)
  const wrong = bytes.findIndex((byte, index) => byte !== byteAt(seed, position + index))
  if (wrong < 0) return
  const wanted = byteAt(seed, position + wrong)
  fail(`byte ${wrong} of ${bytes.length} read bytes: expected 0x${hex(wanted)}, got 0x${hex(bytes[wrong]!)}`)
}

/** Checks that part of a memory was not changed since `clearData`. */
export function checkUntouched(memory: DmaMemory, offset: number, length: number): void {
  memory.forHost(0, memory.lengthBytes)
  const wrong = hostBytes(memory, offset, length).findIndex((byte) => byte !== UNTOUCHED)
  if (wrong >= 0) fail(`byte ${offset + wrong} of the memory was changed outside the transfer`)
}

/** Returns memory of scattered pages: `order` gives the position of each in a single allocation. */
export function scatteredMemory(dma: DmaAllocator, order: readonly number[]): ScatteredMemory {
  const whole = dma.alloc((Math.max(...order) + 1) * PAGE_BYTES, { contiguous: true })
  const base = whole.iovaAt(0)
  const segments: { offsetBytes: number; iova: number; lengthBytes: number }[] = []
  for (const [index, page] of order.entries()) {
    const last = segments.at(-1)
    const iova = base + page * PAGE_BYTES
    if (last !== undefined && last.iova + last.lengthBytes === iova) last.lengthBytes += PAGE_BYTES
    else segments.push({ offsetBytes: index * PAGE_BYTES, iova, lengthBytes: PAGE_BYTES })
  }
  const pageOf = (offsetBytes: number) => order[Math.floor(offsetBytes / PAGE_BYTES)]
  return {
    whole,
    lengthBytes: order.length * PAGE_BYTES,
    segments,
    iovaAt(offsetBytes) {
      const page = pageOf(offsetBytes)
      if (page === undefined) throw new RangeError(`offset: expected one inside the memory, got ${offsetBytes}`)
      return base + page * PAGE_BYTES + (offsetBytes % PAGE_BYTES)
    },
    forDevice: () => whole.forDevice(0, whole.lengthBytes),
    forHost: () => whole.forHost(0, whole.lengthBytes),
    free: () => whole.free(),
  }
}

/** Memory without its own view: the host accesses its pages through the underlying allocation. */
export interface ScatteredMemory extends DmaMemory {
  readonly whole: DmaMemory
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0')
}
