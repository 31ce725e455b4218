import type { Namespace } from '@gpunvme/host-driver'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import type { PlanRing } from './plan-ring.js'

/** What memory holds before a read: where it still does afterwards, nothing arrived. */
const MARKER = 0xa5
/** Commands whose bytes are looked at after a repeat. */
const SAMPLES = 16

/** Bytes that a command has moved, and where on the namespace they belong. */
export interface Sample {
  readonly slba: number
  readonly blocks: number
  readonly bytes: Uint8Array
}

/** What writes carry: random numbers, which no drive can shorten, or the same bytes again and again. */
export type DataPattern = 'random' | Uint8Array

function bytesOf({ view }: DmaMemory): Uint8Array {
  // Benches allocate memory of the host, which has one.
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

/** Marsaglia's xorshift of 32 bits. */
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
 * What some of the commands of the last plan have in memory: those whose blocks no other command has, of it or of the
 * plan before it, which may have been under way at the same time. Of two writes to the same blocks nobody knows which
 * was the last.
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

/** Reads the samples' blocks again. @returns what is wrong with the first that differs; undefined where none does. */
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
    if (rw === 'write') return `${where} do not hold what was written to them`
    if (bytes.every((byte) => byte === MARKER)) return `${where}: their read reports success, and no byte arrived`
    return `${where}: what was read is not what a second read by the host finds`
  }
  return undefined
}

/** Whether there were samples and all of them are zeros: of blocks that were never written, perhaps. */
export function areZeros(samples: readonly Sample[]): boolean {
  return samples.length > 0 && samples.every(({ bytes }) => bytes.every((byte) => byte === 0))
}
