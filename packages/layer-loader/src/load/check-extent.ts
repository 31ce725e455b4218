import { LoaderError } from '../error.js'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { invalidArgument } from '../formats/invalid-argument.js'
import { quote } from '../formats/quote.js'
import type { StoredExtent } from './extent.js'
import type { LoadPlan } from './load-plan.js'
import type { LoaderOptions } from './options.js'
import { pagesOf } from './slots.js'

/** Returns the memory that a loader needs for an extent: whole pages if it is allocated for this extent. */
export function memoryNeeded({ memoryBytes }: LoadPlan, options: LoaderOptions): number {
  return options.memoryBytes === undefined ? memoryBytes : pagesOf(memoryBytes)
}

/** Properties of a loader that limit its extents. */
interface ExtentLimits {
  readonly slotBytes: number
  readonly options: LoaderOptions
  plan(extent: StoredExtent): LoadPlan
}

/** Rejects extents that the loader cannot hold or verify. @throws ExtentTooLongError, LoaderError (NO_CHECKSUMS). */
export function checkExtent(extent: StoredExtent, plan: LoadPlan, loader: ExtentLimits): void {
  const { slotBytes, options } = loader
  const { verify = 'full' } = options
  if (verify === 'full' && !plan.checksAll) throw noChecksums(quote(extent.name), 'part of it has no checksums')
  const neededBytes = memoryNeeded(plan, options)
  if (neededBytes <= slotBytes) return
  const { name, pieces, checks } = extent
  const tensorBytes = pieces.map((piece) => memoryNeeded(loader.plan({ name, pieces: [piece], checks }), options))
  const option = options.memoryBytes === undefined ? 'slotBytes' : 'memoryBytes'
  throw new ExtentTooLongError(name, { neededBytes, slotBytes, option, tensorBytes })
}

/** @throws LoaderError (INVALID_ARGUMENT) for a value that does not say where its bytes are on a store. */
export function requireExtent(extent: unknown): void {
  const given = (typeof extent === 'object' && extent !== null ? extent : {}) as Record<string, unknown>
  const { name, kind, pieces, checks } = given
  if (Array.isArray(pieces) && Array.isArray(checks)) return
  const ofCatalogue = typeof kind === 'string' && Array.isArray(pieces)
  const got = ofCatalogue ? `the ${kind} ${quote(String(name))} of a catalogue` : quote(String(extent))
  throw invalidArgument(
    'extent',
    'an extent of a model on a store',
    got,
    'pass model.layer(n), model.expert(layer, n) or model.tensor(name) of the model that the loader was opened with',
  )
}

/** Returns an error if options required for memory without CPU access are missing. */
export function missingGpuSupport(
  { moves, units }: LoadPlan,
  { checksummer, move }: LoaderOptions,
): TypeError | undefined {
  if (units.length > 0 && checksummer === undefined) {
    return new TypeError('checksummer: expected a checksummer for GPU memory, got none')
  }
  if (moves.length > 0 && move === undefined) {
    return new TypeError('move: required by `alignBytes` in GPU memory, got none')
  }
  return undefined
}

interface TooLong {
  readonly neededBytes: number
  readonly slotBytes: number
  /** Option of the loader that sets the limit. */
  readonly option: 'slotBytes' | 'memoryBytes'
  /** Memory of each of its tensors alone, with alignment, complete blocks and check units. */
  readonly tensorBytes: readonly number[]
}

/** Error of an extent that is longer than the slots of the loader, or than its memory. */
export class ExtentTooLongError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_EXTENT_TOO_LONG'
  readonly category = 'infeasible'
  readonly neededBytes: number
  readonly slotBytes: number

  constructor(name: string, { neededBytes, slotBytes, option, tensorBytes }: TooLong) {
    const fitting = tensorBytes.filter((bytes) => bytes <= slotBytes).length
    const longest = tensorBytes.reduce((max, bytes) => Math.max(max, bytes), 0)
    const isSplit = tensorBytes.length > 1 && fitting > 0
    const limit = option === 'slotBytes' ? `the loader's slots have ${slotBytes}` : `the loader has ${slotBytes}`
    const parts = fitting === tensorBytes.length ? 'its parts: loader.parts(extent), or ' : ''
    super(`${quote(name)} takes ${neededBytes} bytes of memory; ${limit}`, {
      facts: isSplit
        ? [`${fitting} of its ${tensorBytes.length} tensors fit on their own; the longest takes ${longest} bytes`]
        : [],
      next:
        `open the loader with { ${option}: ${neededBytes} } or more` +
        (isSplit
          ? `, or request ${parts}its tensors or experts one by one: model.tensor(name), model.expert(layer, n)`
          : ''),
    })
    this.neededBytes = neededBytes
    this.slotBytes = slotBytes
  }
}

/** Error of verification without checksums: usually a model that is stored as published. */
export function noChecksums(what: string, why = 'it has no checksums'): LoaderError {
  return new LoaderError('ERR_GPUNVME_NO_CHECKSUMS', 'usage', `Cannot verify ${what}: ${why}`, {
    next: 'load it with { verify: "off" }, or pack() the model: an image has checksums',
  })
}
