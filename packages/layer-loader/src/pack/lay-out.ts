import { expertSliceCount } from '../formats/experts.js'
import type { Layer, Model, Tensor } from '../formats/model.js'
import { rulesOf, type NamingRules } from '../formats/naming.js'
import { encodeDirectory, type DirectoryEntry } from '../image/directory.js'
import {
  ALIGNMENT_BYTES,
  alignUp,
  chunksOf,
  DATA_START_BYTES,
  type CheckedExtent,
  type Extent,
} from '../image/format.js'
import { sumOf } from '../image/holes.js'
import { encodeManifest, type Manifest, type PackedLayer, type PackedTensor } from '../image/manifest.js'
import { firstFit, oneAfterTheOther, startsIn, type ExtentAllocator } from './room.js'

/** Layout of a packing: the location of each byte. Digests are zero. */
export interface PackPlan {
  readonly name: string
  /** Required length of the namespace, in bytes. */
  readonly endBytes: number
  /** End of the last extent, in bytes. */
  readonly usedEndBytes: number
  /** Bytes of the model including padding, manifest and directory. */
  readonly imageBytes: number
  /** Bytes of the tensors without padding. */
  readonly tensorBytes: number
  readonly chunks: number
  readonly manifest: Manifest
  readonly entry: DirectoryEntry
  /** Directory with the entries of the remaining models and of this one. */
  readonly directory: CheckedExtent
  /**
   * Free space that is kept: for notes during packing, later for the next directory, so that a model can be removed
   * from a full namespace.
   */
  readonly spare: Extent
}

/** Two notes of a page each, so that one is valid while the other is written. */
const MIN_SPARE_BYTES = 2 * ALIGNMENT_BYTES

const NO_DIGEST = '0'.repeat(64)

/** Unlimited space, for plans without a namespace. */
const ANYWHERE: readonly Extent[] = [
  { offsetBytes: DATA_START_BYTES, lengthBytes: Number.MAX_SAFE_INTEGER - DATA_START_BYTES },
]

/**
 * Lays out a model in holes: completely in the first that is long enough, or else each extent in the first with enough
 * space. The same arguments give the same plan, which is how an interrupted packing is found.
 *
 * @param beside entries that the directory has in addition to this model's.
 * @returns undefined without enough space.
 */
export function layOut(
  model: Model,
  name: string,
  beside: readonly DirectoryEntry[],
  holes: readonly Extent[] = ANYWHERE,
): PackPlan | undefined {
  const rules = rulesOf(model.naming)
  const layers = model.layers.map((layer) => layOutLayer(layer, rules))
  const minBytes = sumOf(layers)
  if (minBytes > sumOf(holes)) return undefined
  for (const hole of holes.flatMap(startsIn)) {
    if (hole.lengthBytes < minBytes) continue
    const plan = layOutIn(model, name, beside, layers, oneAfterTheOther(hole))
    if (plan !== undefined) return plan
  }
  return layOutIn(model, name, beside, layers, firstFit(holes))
}

type LaidOutLayer = Pick<PackedLayer, 'name' | 'tensors' | 'lengthBytes'>

function layOutIn(
  model: Model,
  name: string,
  beside: readonly DirectoryEntry[],
  laidOut: readonly LaidOutLayer[],
  allocate: ExtentAllocator,
): PackPlan | undefined {
  let unplaced = 0
  let endBytes = 0
  let imageBytes = 0
  const place = (lengthBytes: number): CheckedExtent => {
    const found = allocate(lengthBytes)
    if (found === undefined) unplaced++
    const offsetBytes = found ?? 0
    endBytes = Math.max(endBytes, offsetBytes + alignUp(lengthBytes))
    imageBytes += alignUp(lengthBytes)
    return { offsetBytes, lengthBytes, crc32: 0 }
  }
  let chunks = 0
  const layers: PackedLayer[] = []
  for (const layer of laidOut) {
    const { offsetBytes } = place(layer.lengthBytes)
    if (unplaced > 0) return undefined
    layers.push({ ...layer, offsetBytes, firstChunk: chunks })
    chunks += chunksOf(layer.lengthBytes)
  }
  const manifest: Manifest = {
    name,
    fingerprint: NO_DIGEST,
    source: {
      format: model.format,
      formatVersion: model.formatVersion,
      // JSON does not distinguish an empty name from a missing one; the header keeps it.
      name: model.name === '' ? undefined : model.name,
      architecture: model.architecture === '' ? undefined : model.architecture,
    },
    header: place(model.parts[0].headerBytes),
    chunkTable: place(chunks * 4),
    layers,
  }
  // Checksums and digests have a fixed number of digits, so the final encoding has the same length.
  const entry = { name, fingerprint: NO_DIGEST, manifest: place(encodeManifest(manifest).byteLength) }
  const directory = place(encodeDirectory([...beside, entry]).byteLength)
  const usedEndBytes = endBytes
  const plan = { name, usedEndBytes, imageBytes, tensorBytes: sumOf(model.layers), chunks, manifest, entry, directory }
  const spareBytes = Math.max(MIN_SPARE_BYTES, alignUp(directory.lengthBytes))
  const spare = { offsetBytes: place(spareBytes).offsetBytes, lengthBytes: spareBytes }
  return unplaced > 0 ? undefined : { ...plan, spare, endBytes }
}

/** Returns all extents that a packing writes, including its notes. */
export function extentsOfPlan({ manifest, entry, directory, spare }: PackPlan): Extent[] {
  const { layers, header, chunkTable } = manifest
  return [...layers, header, chunkTable, entry.manifest, directory, spare]
}

function layOutLayer({ name, tensors }: Layer, rules: NamingRules): LaidOutLayer {
  let endBytes = 0
  const packed = inReadOrder(tensors, rules).map((tensor): PackedTensor => {
    const { name, dtype, shape, lengthBytes } = tensor
    const offsetBytes = endBytes
    endBytes = alignUp(offsetBytes + lengthBytes)
    const slices = expertSliceCount(tensor, rules)
    const sums = slices === 0 ? {} : { sliceCrcs: new Uint32Array(slices) }
    return { name, dtype, shape, offsetBytes, lengthBytes, sha256: NO_DIGEST, ...sums }
  })
  return { name, tensors: packed, lengthBytes: endBytes }
}

/**
 * Orders the tensors of a layer so that what is read together is adjacent: the part that every token needs, then the
 * tensors of each expert, then stacks of experts. A chunk that is checked then has few bytes of anything else.
 */
function inReadOrder(tensors: readonly Tensor[], rules: NamingRules): readonly Tensor[] {
  const places = tensors.map((tensor) => {
    const expert = rules.expertIn(tensor.name)
    if (expertSliceCount(tensor, rules) === 0) return { tensor, place: -1 }
    return { tensor, place: typeof expert === 'number' ? expert : Infinity }
  })
  // Infinity - Infinity is NaN, which sorts as 0.
  return places.sort((a, b) => a.place - b.place || 0).map(({ tensor }) => tensor)
}
