import { invalidArgument } from '../formats/invalid-argument.js'
import { quote } from '../formats/quote.js'
import { LoaderError } from '../error.js'
import { noChecksums } from './check-extent.js'
import type { StoredModel, StoredPiece } from './extent.js'
import { requireModel } from './require-model.js'

/** Sizes of the structures of `gpunvme_fetch.h` in `@gpunvme/cuda-native`, and offsets of their fields. */
export const FETCH_LAYOUT = {
  version: 1,
  gnv_table: {
    ...{ size: 64, version: 0, layer_count: 4, expert_count: 8, extent_count: 12, max_extents: 16 },
    ...{ block_shift: 20, max_bytes: 24, layers_offset: 32, experts_offset: 40, extents_offset: 48, bytes: 56 },
  },
  gnv_layer: { size: 8, first_expert: 0, expert_count: 4 },
  gnv_expert: { size: 16, bytes: 0, first_extent: 8, extent_count: 12 },
  gnv_extent: { size: 40, first_block: 0, offset: 8, bytes: 16, skip: 24, drive: 28, crc32: 32 },
} as const

/** Limit on the number of an expert: the table has an entry for each number up to the highest. */
const MAX_EXPERTS = 65_536
/** Limit on `max_extents` of `gnv_table`. */
const MAX_EXTENTS = 65_536

/** Options of `expertTable`. */
export interface ExpertTableOptions {
  /** Index of the model's drive in the `gnv_device`. Default: 0. */
  readonly drive?: number
}

/** Location of all experts of a model, for kernels that fetch them (`docs/fetch.md` of `@gpunvme/cuda-native`). */
export interface ExpertTable {
  /** A `gnv_table`, to copy to GPU memory at a multiple of 8 bytes. It holds no addresses. */
  readonly bytes: Uint8Array
  /** Name of each layer, by its number in a fetch. Layers without experts are included. */
  readonly layers: readonly string[]
  /** Size of the destination of the largest expert, in bytes. */
  readonly maxBytes: number
  /** Maximum extents of an expert. A fetch of n experts needs n times as many words for checksums. */
  readonly maxExtents: number
}

interface TableExtent {
  readonly firstBlock: number
  readonly offsetBytes: number
  readonly lengthBytes: number
  readonly skipBytes: number
  readonly crc32: number
}

interface TableExpert {
  readonly lengthBytes: number
  readonly extents: readonly TableExtent[]
}

/**
 * Returns a table of a model's experts for `gnv::fetch`. Each expert needs checksums of its own, which `pack` stores. The model
 * must be on one drive: block n of its store is block n of the namespace.
 * @throws LoaderError (NO_CHECKSUMS, INVALID_ARGUMENT, UNEVEN_EXPERTS)
 */
export function expertTable(model: StoredModel, { drive = 0 }: ExpertTableOptions = {}): ExpertTable {
  requireModel(model)
  if (!Number.isInteger(drive) || drive < 0 || drive > 0xffff_ffff)
    throw invalidArgument('drive', 'an integer from 0 to 4294967295', String(drive))
  const { store } = model
  if ('setId' in store || 'starts' in store)
    throw invalidArgument('model', 'a model on one drive', `one on ${quote(store.name)}`)
  const blockShift = Math.log2(store.blockBytes)
  if (!Number.isInteger(blockShift))
    throw invalidArgument('model', 'blocks of a power of two in bytes', `${store.blockBytes} bytes`)
  const layers = model.layers.map((layer) => expertsOf(model, layer))
  const experts = layers.flat()
  const maxBytes = experts.reduce((max, { lengthBytes }) => Math.max(max, lengthBytes), 0)
  const maxExtents = experts.reduce((max, { extents }) => Math.max(max, extents.length), 0)
  if (maxExtents > MAX_EXTENTS)
    throw invalidArgument('model', `experts of at most ${MAX_EXTENTS} tensors`, `one of ${maxExtents}`)
  return {
    bytes: encode(layers, experts, { drive, blockShift, maxBytes, maxExtents }),
    layers: [...model.layers],
    maxBytes,
    maxExtents,
  }
}

/** Returns the experts of a layer by number. A missing number is an expert without extents. */
function expertsOf(model: StoredModel, layer: string): TableExpert[] {
  const numbers = model.experts(layer)
  const highest = numbers.at(-1) ?? -1
  if (highest >= MAX_EXPERTS)
    throw invalidArgument('model', `experts with numbers below ${MAX_EXPERTS}`, `${highest} in ${quote(layer)}`)
  const experts = Array.from({ length: highest + 1 }, (): TableExpert => ({ lengthBytes: 0, extents: [] }))
  for (const number of numbers) experts[number] = expertOf(model, layer, number)
  return experts
}

/** Lays out an expert's tensors one after another, in whole blocks. */
function expertOf(model: StoredModel, layer: string, number: number): TableExpert {
  if (!model.hasChecksums) throw noChecksums(`model ${quote(model.name)}`)
  const { blockBytes } = model.store
  const { name, pieces, checks } = model.expert(layer, number)
  const crcs = new Map(checks.map(({ storeBytes, lengthBytes, crc32 }) => [`${storeBytes}+${lengthBytes}`, crc32]))
  let endBytes = 0
  const extents = pieces.map((piece): TableExtent => {
    // A kernel names a tensor by its index, so none is left out.
    if (piece.lengthBytes === 0) throw invalidArgument('model', 'experts without empty tensors', quote(piece.name))
    const { storeBytes, lengthBytes } = onlyRun(piece)
    const crc32 = crcs.get(`${storeBytes}+${lengthBytes}`)
    if (crc32 === undefined) throw noOwnChecksum(name)
    const skipBytes = storeBytes % blockBytes
    const offsetBytes = endBytes
    endBytes += Math.ceil((skipBytes + lengthBytes) / blockBytes) * blockBytes
    return { firstBlock: (storeBytes - skipBytes) / blockBytes, offsetBytes, lengthBytes, skipBytes, crc32 }
  })
  return { lengthBytes: endBytes, extents }
}

function onlyRun({ name, runs }: StoredPiece) {
  const [run] = runs
  if (run === undefined || runs.length > 1) throw noOwnChecksum(name)
  return run
}

function noOwnChecksum(name: string): LoaderError {
  return new LoaderError(
    'ERR_GPUNVME_NO_CHECKSUMS',
    'usage',
    `Cannot verify ${quote(name)} alone: it has no checksum of its own`,
    {
      next: 'pack() the model again: an image of this version has a checksum for each expert',
    },
  )
}

interface TableNumbers {
  readonly drive: number
  readonly blockShift: number
  readonly maxBytes: number
  readonly maxExtents: number
}

function encode(
  layers: readonly (readonly TableExpert[])[],
  experts: readonly TableExpert[],
  { drive, blockShift, maxBytes, maxExtents }: TableNumbers,
): Uint8Array {
  const { version, gnv_table, gnv_layer, gnv_expert, gnv_extent } = FETCH_LAYOUT
  const extentCount = experts.reduce((sum, { extents }) => sum + extents.length, 0)
  const expertsAt = gnv_table.size + layers.length * gnv_layer.size
  const extentsAt = expertsAt + experts.length * gnv_expert.size
  const view = new DataView(new ArrayBuffer(extentsAt + extentCount * gnv_extent.size))
  const put32 = (offset: number, value: number) => view.setUint32(offset, value, true)
  const put64 = (offset: number, value: number) => view.setBigUint64(offset, BigInt(value), true)
  put32(gnv_table.version, version)
  put32(gnv_table.layer_count, layers.length)
  put32(gnv_table.expert_count, experts.length)
  put32(gnv_table.extent_count, extentCount)
  put32(gnv_table.max_extents, maxExtents)
  put32(gnv_table.block_shift, blockShift)
  put64(gnv_table.max_bytes, maxBytes)
  put64(gnv_table.layers_offset, gnv_table.size)
  put64(gnv_table.experts_offset, expertsAt)
  put64(gnv_table.extents_offset, extentsAt)
  put64(gnv_table.bytes, view.byteLength)
  let [firstExpert, firstExtent] = [0, 0]
  for (const [index, { length }] of layers.entries()) {
    const at = gnv_table.size + index * gnv_layer.size
    put32(at + gnv_layer.first_expert, firstExpert)
    put32(at + gnv_layer.expert_count, length)
    firstExpert += length
  }
  for (const [index, { lengthBytes, extents }] of experts.entries()) {
    const at = expertsAt + index * gnv_expert.size
    put64(at + gnv_expert.bytes, lengthBytes)
    put32(at + gnv_expert.first_extent, firstExtent)
    put32(at + gnv_expert.extent_count, extents.length)
    for (const extent of extents) {
      const to = extentsAt + firstExtent++ * gnv_extent.size
      put64(to + gnv_extent.first_block, extent.firstBlock)
      put64(to + gnv_extent.offset, extent.offsetBytes)
      put64(to + gnv_extent.bytes, extent.lengthBytes)
      put32(to + gnv_extent.skip, extent.skipBytes)
      put32(to + gnv_extent.drive, drive)
      put32(to + gnv_extent.crc32, extent.crc32)
    }
  }
  return new Uint8Array(view.buffer)
}
