import type { Namespace } from '@gpunvme/host-driver'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import type { PlanRing } from './plan-ring.js'

/** Fill byte of memory before a read: if it remains, no data arrived. */
const MARKER = 0xa5
/** Commands whose bytes are checked after a repeat. */
const SAMPLES = 16

/** Bytes that a command transferred, with their location on the namespace. */
export interface Sample {
  readonly slba: number
  readonly blocks: number
  readonly bytes: Uint8Array
}

/** Data of writes: random numbers, which no drive can compress, or a repeated byte string. */
export type DataPattern = 'random' | Uint8Array

function bytesOf({ view }: DmaMemory): Uint8Array {
  // Benchmarks allocate host memory, which has a view.
  return new Uint8Array(view!.buffer, view!.byteOffset, view!.byteLength)
}

export function fillWithMarker(memory: DmaMemory): void {
  bytesOf(memory).fill(MARKER)
  memory.forDevice(0, memory.lengthBytes)
}

export function fillWithPattern(memory: DmaMemory, pattern: DataPattern, seed: number): void {
  const bytes = bytesOf(memory)
  if (pattern === 'random') fillWithNumbers(bytes, seed)
  else for (let at = 0; at < bytes.length; at += pattern.length) bytes.set(pattern.subarray(0, bytes.length - at), at)
  memory.forDevice(0, memory.lengthBytes)
}

/** Marsaglia's 32-bit xorshift. */
function fillWithNumbers(bytes: Uint8Array, seed: number): void {
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
  let state = (seed ^ 0x9e3779b9) >>> 0 || 1
  for (let index = 0; index < words.length; index++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    words[index] = state
  }
}

/**
 * Returns the memory content of some commands of the last plan: those whose blocks occur in no other command of it or
 * of the previous plan, which may have run concurrently. The order of two concurrent writes to the same blocks is
 * unknown.
 */
export function samplesOf({ plans, last }: Pick<PlanRing, 'plans' | 'last'>, memory: DmaMemory): Sample[] {
  memory.forHost(0, memory.lengthBytes)
  const bytes = bytesOf(memory)
  const uses = new Map<number, number>()
  for (const { slba } of plans) for (const at of slba) uses.set(at, (uses.get(at) ?? 0) + 1)
  const alone = Array.from(last.slba.keys()).filter((command) => uses.get(last.slba[command]!) === 1)
  const step = Math.max(1, Math.floor(alone.length / SAMPLES))
  const chosen = alone.filter((_, index) => index % step === 0).slice(0, SAMPLES)
  return chosen.map((command) => {
    const blocks = last.blocks[command]!
    const from = last.offsetBytes[command]!
    return { slba: last.slba[command]!, blocks, bytes: bytes.slice(from, from + blocks * last.blockBytes) }
  })
}

/** Reads the samples' blocks again. @returns the problem of the first difference; undefined if all match. */
export async function findWrong(
  namespace: Namespace,
  samples: readonly Sample[],
  rw: 'read' | 'write',
): Promise<string | undefined> {
  const { blockBytes } = namespace
  for (const { slba, blocks, bytes } of samples) {
    const found = await namespace.readBytes(slba * blockBytes, blocks * blockBytes)
    if (Buffer.compare(found, bytes) === 0) continue
    const where = `LBA 0x${slba.toString(16)} to 0x${(slba + blocks - 1).toString(16)}`
    if (rw === 'write') return `${where} differ from the written data`
    if (bytes.every((byte) => byte === MARKER)) return `${where}: the read reported success, but no byte arrived`
    return `${where}: a second read by the host returned other data`
  }
  return undefined
}

/** Returns whether there are samples, all zero: their blocks may never have been written. */
export function areZeros(samples: readonly Sample[]): boolean {
  return samples.length > 0 && samples.every(({ bytes }) => bytes.every((byte) => byte === 0))
}
