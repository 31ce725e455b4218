import { LoaderError } from '../error.js'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import { quote } from '../formats/quote.js'
import type { StoredModel } from '../load/extent.js'
import { packedModel } from '../load/packed-model.js'
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

/** A model in an image, ready to stream. All of it except the layers has been read and checked. */
export interface PackedModel extends StoredModel {
  readonly manifest: Manifest
  /** Identifies its content: equal for equal tensors. */
  readonly fingerprint: string
  /** CRC-32s of all chunks. Those of a layer begin at its `firstChunk`. */
  readonly chunkCrcs: Uint32Array
}

/** The structures of an image. */
export interface Image {
  readonly store: BlockStore
  readonly superblock: Superblock
  /** Both copies as found. One may be damaged or older; the next publication repairs it. */
  readonly copies: readonly SuperblockCopy[]
  /** Problems of a usable image: a damaged copy, a copy of an earlier generation. */
  readonly problems: readonly GpuNvmeError[]
  /** Models of the image; empty after the last one was removed. */
  readonly models: readonly PackedModel[]
  /** Directory entries of the models, in the same order. */
  readonly directory: readonly DirectoryEntry[]
  /** All extents outside the superblocks. */
  readonly extents: readonly NamedExtent[]
  /** Free runs, for further models. */
  readonly holes: readonly Extent[]
  readonly freeBytes: number
  /** Returns the model of that name; without a name, the only one. @throws ModelNotInImageError */
  model(name?: string): PackedModel
}

/**
 * Opens the image on a namespace or another store. Reads and checks all of it except the layers.
 *
 * @throws LoaderError (UNVERIFIABLE_MEDIA, MEMBER_OF_SET, NO_IMAGE, IMAGE_UNSUPPORTED, IMAGE_TRUNCATED), SuperblockError,
 * ImageChecksumError, ImageContentError, errors of reading the store, the signal's reason.
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
    models.push(packedModel(manifest, store, decodeChunkTable(table)))
  }
  const problems = copies.flatMap((copy) => problemWith(copy, superblock))
  const holes = holesBetween(extents, store.capacityBytes)
  return {
    ...{ store, superblock, copies, problems, models, directory: entries, extents, holes, freeBytes: sumOf(holes) },
    model: (name) => pick(models, name),
  }
}

/** Reads a manifest, and checks that it matches its directory entry. */
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
  return [staleCopy(copy, superblock.generation, live.generation)]
}

function pick(models: readonly PackedModel[], name: string | undefined): PackedModel {
  const fitting = models.filter((model) => name === undefined || model.name === name)
  if (fitting.length !== 1) throw new ModelNotInImageError(name, models)
  return fitting[0]!
}

/**
 * Problem of an image whose second superblock copy has an earlier generation: a publication was interrupted after the
 * first copy.
 */
export function staleCopy(copy: string, generation: number, liveGeneration: number): LoaderError {
  const headline = `Superblock copy ${copy} has generation ${generation}; the image has generation ${liveGeneration}`
  return new LoaderError('ERR_GPUNVME_IMAGE_STALE_COPY', 'verification', headline, {
    remedy: 'replace-model',
    facts: ['the image is usable; if the other copy were lost, this one would refer to data that may be overwritten'],
    next: 'pack the model again with { replace: true } to update this copy',
  })
}

/** Error of a missing model, or of an omitted name in an image with several models. */
export class ModelNotInImageError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_MODEL_NOT_IN_IMAGE'
  readonly category = 'not-found'
  /** Whether the image has no models. */
  readonly isEmpty: boolean

  constructor(name: string | undefined, models: readonly PackedModel[]) {
    const names = models.map((model) => quote(model.name)).join(', ')
    const isEmpty = models.length === 0
    const several = isEmpty ? 'The image has no models' : 'The image has several models, and no name was given'
    super(name === undefined ? several : `The image has no model ${quote(name)}`, {
      facts: [`models: ${names || 'none'}`],
      next: isEmpty ? 'pack a model with pack()' : 'pass the name of one of them',
    })
    this.isEmpty = isEmpty
  }
}
