import type { AbortSignalLike, Checksummer, DmaAllocator, DmaMemory, TraceSink } from '@gpunvme/nvme-spec/transport'
import type { BlockStore } from '../store/store.js'
import type { CheckUnit, StoredExtent } from './extent.js'
import { planLoad, type LoadPlan, type Move } from './load-plan.js'

const DEFAULT_ALIGN_BYTES = 32

/** All of it is checked, none, or a share of the chunks, which ones the seed says. */
export type Verification = 'full' | 'off' | { readonly sample: number; readonly seed?: number }

export interface LoaderOptions {
  /** How many extents may be in memory at once, those being read included. 3 when not given. */
  readonly slots?: number
  /** Bytes of a slot; enough for any layer of the model when not given. */
  readonly slotBytes?: number
  /** 'full' when not given. A model without checksums needs 'off': nothing is left out in silence. */
  readonly verify?: Verification
  /**
   * What a tensor's place in memory is a multiple of, a power of two. 32 when not given, as in a GGUF. A tensor that
   * lies otherwise on the store is moved once it is read.
   */
  readonly alignBytes?: number
  /** On whose memory slots lie, of the store's own allocator; 'host' when not given. */
  readonly where?: 'host' | 'gpu'
  /** Where slots come from instead: memory that the store can read into. */
  readonly dma?: DmaAllocator
  /** What checks; Node's zlib when not given. */
  readonly checksummer?: Checksummer
  /** Moves bytes inside memory that the CPU cannot reach; needed only where `alignBytes` asks for it there. */
  readonly move?: (memory: DmaMemory, moves: readonly Move[]) => Promise<void>
  /** Fills released slots with 0xa5, so that bytes used too late are seen to be wrong. False when not given. */
  readonly poison?: boolean
  /** Aborting ends the loader; what is in flight is waited for. */
  readonly signal?: AbortSignalLike
  /** For each command, from its submission. */
  readonly timeoutNs?: number
  /** Takes what happens: reads, checks, and what is in which slot, by the store's clock. */
  readonly trace?: TraceSink
}

/** What loading an extent with such options takes: pure data. @throws RangeError for options that cannot be meant. */
export function loadPlanFor(
  { blockBytes }: Pick<BlockStore, 'blockBytes'>,
  extent: StoredExtent,
  { alignBytes = DEFAULT_ALIGN_BYTES, verify = 'full' }: Pick<LoaderOptions, 'alignBytes' | 'verify'> = {},
): LoadPlan {
  return planLoad(extent, { blockBytes, alignBytes, check: unitsToCheck(verify) })
}

/** @throws RangeError for a share that is none. */
export function unitsToCheck(verify: Verification): (unit: CheckUnit) => boolean {
  if (verify === 'full') return () => true
  if (verify === 'off') return () => false
  const { sample, seed = 0 } = verify
  if (!(sample > 0 && sample <= 1))
    throw new RangeError(`verify.sample: expected more than 0 and at most 1, got ${sample}`)
  return ({ storeBytes }) => scatter(storeBytes, seed) < sample
}

/** A number from 0 to 1 that looks drawn by lot, and is the same for the same place: a store's offset is 53 bits wide. */
function scatter(storeBytes: number, seed: number): number {
  const units = storeBytes / 512
  let hash = Math.imul((units | 0) ^ seed, 0x9e3779b1) ^ Math.floor(units / 2 ** 32)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}
