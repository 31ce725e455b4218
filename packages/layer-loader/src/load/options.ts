import type { AbortSignalLike, Checksummer, DmaAllocator, DmaMemory, TraceSink } from '@gpunvme/nvme-spec/transport'
import { describeValue, invalidArgument, requireOneOf } from '../formats/invalid-argument.js'
import type { BlockStore } from '../store/store.js'
import type { CheckUnit, StoredExtent } from './extent.js'
import { planLoad, type LoadPlan, type Move } from './load-plan.js'

const DEFAULT_ALIGN_BYTES = 32

/** Check everything, nothing, or a share of the chunks, selected by the seed. */
export type Verification = 'full' | 'off' | { readonly sample: number; readonly seed?: number }

/** Options of `openLoader`. */
export interface LoaderOptions {
  /** Extents in memory at once, including those being read. Default: 3. */
  readonly slots?: number
  /** Bytes per slot. Default: enough for any layer of the model. */
  readonly slotBytes?: number
  /**
   * Total memory, instead of `slots` and `slotBytes`: each extent then gets memory of its own length, allocated when
   * its turn to be read comes, and freed on release. For extents that stay, and for lengths that differ much.
   */
  readonly memoryBytes?: number
  /** Default: 'full'. A model without checksums requires an explicit 'off'. */
  readonly verify?: Verification
  /**
   * Alignment of tensors in memory, in bytes; a power of two. Default: 32, as in GGUF. A tensor with another alignment
   * on the store is moved after reading.
   */
  readonly alignBytes?: number
  /** Location of the slots, allocated by the store. Default: 'host'. */
  readonly where?: 'host' | 'gpu'
  /** Allocator of slots instead of the store's; the store must be able to read into its memory. */
  readonly dma?: DmaAllocator
  /**
   * Computes checksums, except those that the store computes while it reads (`FileStoreOptions.reader`). Default:
   * Node's zlib.
   */
  readonly checksummer?: Checksummer
  /** Moves bytes inside memory that the CPU cannot reach; required only if `alignBytes` needs moves there. */
  readonly move?: (memory: DmaMemory, moves: readonly Move[]) => Promise<void>
  /** Fills released slots with 0xa5, so that late uses are noticed. Default: false. */
  readonly poison?: boolean
  /** Aborting ends the loader, after reads in flight. */
  readonly signal?: AbortSignalLike
  /**
   * Bytes in flight. Fewer shorten the wait of an urgent request; too few leave the drive idle. Default: adapted to the
   * drive during reading, at most `saturationBytes` of the store.
   */
  readonly inFlightBytes?: number
  /** Time limit of each command, in nanoseconds from its submission. */
  readonly timeoutNs?: number
  /** Receives reads, checks and slot states, by the store's clock. */
  readonly trace?: TraceSink
}

/** @throws LoaderError (INVALID_ARGUMENT) for options of a wrong type, RangeError for invalid counts. */
export function checkLoaderOptions({ where = 'host', inFlightBytes = 1, signal }: LoaderOptions): void {
  requireOneOf('where', where, ['host', 'gpu'])
  requireSignal(signal)
  checkCount('inFlightBytes', inFlightBytes)
}

/** @throws RangeError */
export function checkCount(name: string, count: number): void {
  if (Number.isSafeInteger(count) && count >= 1) return
  throw new RangeError(`${name}: expected an integer from 1 to ${Number.MAX_SAFE_INTEGER}, got ${describeValue(count)}`)
}

/** @throws LoaderError (INVALID_ARGUMENT) */
export function requireSignal(signal: unknown): void {
  if (signal === undefined || (typeof signal === 'object' && signal !== null && 'addEventListener' in signal)) return
  throw invalidArgument('signal', 'an AbortSignal', describeValue(signal))
}

/**
 * Returns the reads and memory for an extent with such options.
 * @throws LoaderError (INVALID_ARGUMENT), RangeError for invalid options.
 */
export function loadPlanFor(
  { blockBytes }: Pick<BlockStore, 'blockBytes'>,
  extent: StoredExtent,
  { alignBytes = DEFAULT_ALIGN_BYTES, verify = 'full' }: Pick<LoaderOptions, 'alignBytes' | 'verify'> = {},
): LoadPlan {
  return planLoad(extent, { blockBytes, alignBytes, check: unitsToCheck(verify) })
}

/** @throws LoaderError (INVALID_ARGUMENT); RangeError for an invalid share. */
export function unitsToCheck(verify: Verification): (unit: CheckUnit) => boolean {
  if (verify === 'full') return () => true
  if (verify === 'off') return () => false
  if (typeof verify !== 'object' || (verify as unknown) === null || !('sample' in verify))
    throw invalidArgument('verify', "'full', 'off' or { sample: 0.1 }", describeValue(verify))
  const { sample, seed = 0 } = verify
  if (!(sample > 0 && sample <= 1))
    throw new RangeError(`verify.sample: expected more than 0 and at most 1, got ${sample}`)
  return ({ storeBytes }) => scatter(storeBytes, seed) < sample
}

/**
 * Maps an offset to a pseudo-random number from 0 to 1, always the same for the same offset. Offsets have up to 53
 * bits.
 */
function scatter(storeBytes: number, seed: number): number {
  const units = storeBytes / 512
  let hash = Math.imul((units | 0) ^ seed, 0x9e3779b1) ^ Math.floor(units / 2 ** 32)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}
