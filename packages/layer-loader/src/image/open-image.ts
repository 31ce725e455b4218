import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import { quote } from '../formats/quote.js'
import { asStore, type Readable } from '../store/as-store.js'
import type { BlockStore } from '../store/store.js'
import { decodeChunkTable } from './chunk-table.js'
import { liveSuperblock, readCopies, type SuperblockCopy } from './copies.js'
import { decodeDirectory, type DirectoryEntry } from './directory.js'
import { fingerprintOf } from './fingerprint.js'
import type { Extent } from './format.js'
import { holesBetween, sumOf } from './holes.js'
import { ImageContentError } from './json.js'
import { decodeManifest, type Manifest } from './manifest.js'
import { extentsOf, refuseOverlap, type NamedExtent } from './overlap.js'
import { readRegion } from './read-region.js'
import type { Superblock } from './superblock.js'
import type { Remedy } from './remedy.js'

/** A model in an image, ready to be streamed. Everything here has been checked; no layer has been read. */
export interface PackedModel extends Manifest {
  readonly store: BlockStore
  /** CRC-32s of all chunks; a layer's begin at its `firstChunk`. */
  readonly chunkCrcs: Uint32Array
}

/** What an image says of itself. */
export interface Image {
  readonly store: BlockStore
  readonly superblock: Superblock
  /** Both copies as they were found. One may be damaged, or older: then the next publication repairs it. */
  readonly copies: readonly SuperblockCopy[]
  /** What is wrong although the image can be used: a damaged copy, a copy of an earlier generation. */
  readonly problems: readonly GpuNvmeError[]
  /** None where the last one was removed. */
  readonly models: readonly PackedModel[]
  /** What the directory says of each of them, in the same order. */
  readonly directory: readonly DirectoryEntry[]
  /** All that lies outside the superblocks. */
  readonly extents: readonly NamedExtent[]
  /** Where there is room for more, and how much of it in all. */
  readonly holes: readonly Extent[]
  readonly freeBytes: number
  /** The model of that name; with no name, the only one. @throws ModelNotInImageError */
  model(name?: string): PackedModel
}

/**
 * Finds the image on a namespace or another store, and reads and checks all of it but the layers.
 *
 * @throws UnverifiableMediaError, ImageNotFoundError, ImageTruncatedError, SuperblockError, UnsupportedImageError, ImageChecksumError,
 * ImageContentError; what reading the store throws; the signal's reason.
 */
export async function openImage(target: Readable, options: ExecuteOptions = {}): Promise<Image> {
  const store = asStore(target)
  const copies = await readCopies(store, options)
  const superblock = liveSuperblock(store, copies)
  const { directory, usedEndBytes } = superblock
  const entries = decodeDirectory(await readRegion(store, 'directory', directory, options), usedEndBytes)
  const found: { entry: DirectoryEntry; manifest: Manifest }[] = []
  for (const entry of entries) {
    found.push({ entry, manifest: await readManifest(store, entry, usedEndBytes, options) })
  }
  const extents = extentsOf(directory, found)
  refuseOverlap(extents)
  const models: PackedModel[] = []
  for (const { manifest } of found) {
    const region = `chunk table of ${quote(manifest.name)}`
    const table = await readRegion(store, region, manifest.chunkTable, options)
    models.push({ ...manifest, store, chunkCrcs: decodeChunkTable(table) })
  }
  const problems = copies.flatMap((copy) => problemWith(copy, superblock))
  const holes = holesBetween(extents, store.capacityBytes)
  return {
    ...{ store, superblock, copies, problems, models, directory: entries, extents, holes, freeBytes: sumOf(holes) },
    model: (name) => pick(models, name),
  }
}

/** Reads a manifest, and checks that it is the one that the directory speaks of. */
async function readManifest(
  store: BlockStore,
  entry: DirectoryEntry,
  usedEndBytes: number,
  options: ExecuteOptions,
): Promise<Manifest> {
  const region = `manifest of ${quote(entry.name)}`
  const encoded = await readRegion(store, region, entry.manifest, options)
  const manifest = decodeManifest(region, encoded, usedEndBytes)
  const require = (path: string, expected: string, got: string): void => {
    if (expected !== got) throw new ImageContentError(region, path, expected, got)
  }
  require('name', quote(entry.name), quote(manifest.name))
  require('fingerprint', entry.fingerprint, manifest.fingerprint)
  const fingerprint = fingerprintOf(manifest.layers.flatMap(({ tensors }) => tensors))
  require('fingerprint', fingerprint, manifest.fingerprint)
  return manifest
}

function problemWith({ copy, problem, superblock }: SuperblockCopy, live: Superblock): GpuNvmeError[] {
  if (problem !== undefined) return [problem]
  if (superblock === undefined || superblock.generation === live.generation) return []
  return [new StaleCopyError(copy, superblock.generation, live.generation)]
}

function pick(models: readonly PackedModel[], name: string | undefined): PackedModel {
  const fitting = models.filter((model) => name === undefined || model.name === name)
  if (fitting.length !== 1) throw new ModelNotInImageError(name, models)
  return fitting[0]!
}

/** A copy of the superblock is sound and of an earlier generation: a publication was cut off after the first copy. */
export class StaleCopyError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_IMAGE_STALE_COPY'
  readonly category = 'verification'
  readonly remedy: Remedy = 'replace-model'

  constructor(copy: string, generation: number, liveGeneration: number) {
    super(`Superblock copy ${copy} is of generation ${generation}; the image is of generation ${liveGeneration}`, {
      facts: [
        'the image can be used; were the other copy lost, this one would lead to an image that may be overwritten',
      ],
      next: 'pack the model again with { replace: true } to have two copies',
    })
  }
}

/** The image has no model of that name, or several and no name was given. */
export class ModelNotInImageError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_MODEL_NOT_IN_IMAGE'
  readonly category = 'not-found'
  /** It holds none at all. */
  readonly isEmpty: boolean

  constructor(name: string | undefined, models: readonly PackedModel[]) {
    const names = models.map((model) => quote(model.name)).join(', ')
    const isEmpty = models.length === 0
    const several = isEmpty ? 'The image holds no models' : 'The image holds several models, and no name was given'
    super(name === undefined ? several : `The image holds no model ${quote(name)}`, {
      facts: [`models: ${names || 'none'}`],
      next: isEmpty ? 'pack one' : 'give the name of one of them',
    })
    this.isEmpty = isEmpty
  }
}
