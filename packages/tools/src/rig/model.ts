import type { Namespace, WritableNamespace } from '@gpunvme/host-driver'
import { modelInPlace, openImage, openModelInFiles, type StoredModel } from '@gpunvme/layer-loader'
import { pack } from '@gpunvme/layer-loader/image'
import { storeSource, type BlockStore } from '@gpunvme/layer-loader/store'
import {
  fileOnDiskSource,
  FileSystemError,
  findPartitions,
  openFileSystem,
  type FileOnDisk,
  type FileSystem,
} from '@gpunvme/layer-loader/filesystems'
import { Catalogue, openModelFile, openModelParts, type Naming } from '@gpunvme/layer-loader/formats'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { holdsImage } from '../block-io/unknown-data.js'
import { findModel, type FindOptions } from '../model/same-catalogue.js'
import { readStore, type StoreOptions } from '../model/store-of.js'
import { hostFileReader } from './gpu.js'
import type { ComposeOptions } from './options.js'
import type { Teardown } from './teardown.js'

/** A model, and other data found with it. */
export interface FoundModel {
  readonly model: StoredModel
  /** Names of all models in the same place. */
  readonly models: readonly string[]
  /** Identifies a packed model's content; absent for a model that was not packed. */
  readonly fingerprint?: string
  /** Damage that does not prevent loading, such as one bad copy of the superblock. */
  readonly problems: readonly GpuNvmeError[]
}

/** Opens the model on one drive, or on the set of several drives. */
export async function openOnDrives(
  namespaces: readonly [Namespace, ...Namespace[]],
  options: Pick<ComposeOptions, 'model' | 'inPlace' | 'naming' | 'signal'> &
    Partial<Pick<FindOptions, 'onFile'>> &
    StoreOptions,
  teardown: Teardown,
): Promise<FoundModel> {
  const { model: name, inPlace = false, naming, signal = new AbortController().signal } = options
  const { onFile = () => Promise.resolve() } = options
  return readStore(namespaces, options, async (store) => {
    if (inPlace) return openInPlace(store, name, { naming, signal }, teardown)
    const image = await openImage(store, { signal })
    const model = await findModel(image, name, { signal, onFile })
    const models = image.models.map((each) => each.name)
    return { model, models, fingerprint: model.fingerprint, problems: image.problems }
  })
}

/** Opens a model in plain files, or on a web server. @throws errors of `openModelInFiles` */
export async function openInFiles(
  path: string,
  { naming, signal }: Pick<ComposeOptions, 'naming' | 'signal'>,
  teardown: Teardown,
): Promise<FoundModel> {
  const reader = hostFileReader()
  const model = await openModelInFiles(path, { naming, ...(reader && { reader }), ...(signal && { signal }) })
  teardown.add(() => model.close())
  return { model, models: [model.name], problems: [] }
}

/** Packs a model file onto an empty namespace. */
export async function packOnto(
  path: string,
  namespace: WritableNamespace,
  { naming, signal, onProgress }: Pick<ComposeOptions, 'naming' | 'signal' | 'onProgress'>,
): Promise<void> {
  await using file = await openModelFile(path, { naming, ...(signal && { signal }) })
  await pack(file, namespace, {
    ...(signal && { signal }),
    onProgress: ({ doneBytes, totalBytes }) => onProgress?.({ stage: 'packing', doneBytes, totalBytes }),
  })
}

async function openInPlace(
  store: BlockStore,
  path: string | undefined,
  { naming, signal }: { readonly naming: Naming | undefined; readonly signal: AbortSignal },
  teardown: Teardown,
): Promise<FoundModel> {
  if (path === undefined) throw new TypeError('model: expected the path of a file on the drive, got undefined')
  const source = storeSource(store)
  const system = await fileSystemWith(store, source, path, signal)
  const folder = path.slice(0, path.lastIndexOf('/') + 1)
  const files = new Map<string, FileOnDisk>()
  const file = await openModelParts(
    path.slice(folder.length),
    async (name) => {
      const found = await system.file(folder + name, { signal })
      const part = fileOnDiskSource(source, found)
      files.set(part.name, found)
      return part
    },
    { naming, signal },
  )
  teardown.add(() => file.close())
  const runs = file.parts.map((part) => files.get(part.source.name)!.extents)
  const model = modelInPlace(new Catalogue(file), store, runs)
  return { model, models: [model.name], problems: [] }
}

/** Finds the file system with the path: on the whole drive, or on one of its partitions. */
async function fileSystemWith(
  store: BlockStore,
  source: ReturnType<typeof storeSource>,
  path: string,
  signal: AbortSignal,
): Promise<FileSystem> {
  const { kind, partitions } = await findPartitions(source, { signal })
  const places = kind === 'none' ? [undefined] : partitions
  const tried: string[] = []
  for (const partition of places) {
    try {
      const system = await openFileSystem(source, { signal, ...(partition !== undefined && { partition }) })
      await system.file(path, { signal })
      return system
    } catch (error) {
      if (!(error instanceof FileSystemError)) throw error
      const where = partition === undefined ? 'the drive' : `partition ${partition.index}`
      tried.push(`${where}: ${error.headline}`)
    }
  }
  throw new FileNotInPlaceError(path, source.name, tried, await holdsImage(store))
}

/** Error of a path that no readable file system on the drive has. */
export class FileNotInPlaceError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_FILE_NOT_IN_PLACE'
  readonly category = 'not-found'

  /** @param isPacked whether the drive has an image with packed models. */
  constructor(path: string, store: string, tried: readonly string[], isPacked: boolean) {
    super(`Cannot read ${path} in place on ${store}`, {
      facts: tried.length === 0 ? ['the drive has a partition table without partitions'] : tried,
      next: isPacked
        ? 'omit --in-place: the drive has packed models'
        : 'use the path inside the file system, without the mount point: /models/x.gguf',
    })
  }
}
