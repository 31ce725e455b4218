import { fileURLToPath } from 'node:url'
import { Catalogue, type CatalogueOptions } from '../formats/catalogue.js'
import { openHttpSource, type HttpSourceOptions } from '../formats/http-source.js'
import { describeValue, invalidArgument } from '../formats/invalid-argument.js'
import { openModelFile, openModelParts, type OpenedModel } from '../formats/open-parts.js'
import type { OpenModelOptions } from '../formats/open-model.js'
import { openFileStore, type FileStore, type FileStoreOptions } from '../store/file-store.js'
import { joinStores } from '../store/joined-store.js'
import { sourceStore } from '../store/source-store.js'
import type { BlockStore } from '../store/store.js'
import type { StoredModel } from './extent.js'
import { modelInPlace } from './model-in-place.js'

export interface ModelInFilesOptions extends OpenModelOptions, CatalogueOptions, FileStoreOptions {
  /** Options for a model on a web server. */
  readonly http?: HttpSourceOptions
}

/** A model in plain files or on a web server, and the function that closes them. */
export interface ModelInFiles extends StoredModel {
  readonly catalogue: Catalogue
  /** Closes the files. */
  close(): Promise<void>
  /** Same as `close`. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Opens a model in its original files, without a drive of its own: by the path of its file, of any part of a split
 * GGUF, of a safetensors index or shard; or by the URL of one of these: `file:`, or on a server that supports Range
 * requests. With `direct: false`, the default, `blockBytes` defaults to 1: reads begin and end at any byte, and a
 * tensor is moved only if its place in the read is not a multiple of `alignBytes`. Gaps of up to 32 KiB between tensors
 * are read too.
 * @throws LoaderError (INVALID_ARGUMENT); errors of `openModelFile` and `openFileStore`; for a URL, errors of
 * `openHttpSource`, and TypeError or URIError if it is invalid. Then nothing stays open.
 */
export async function openModelInFiles(path: string | URL, options: ModelInFilesOptions = {}): Promise<ModelInFiles> {
  const opened: { close(): Promise<void> }[] = []
  const close = async () => {
    for (const each of opened.splice(0).reverse()) await each.close()
  }
  try {
    const url = urlOf(path)
    const model = await (url === undefined ? openModelFile(pathOf(path), options) : openServed(url, options))
    opened.push(model)
    const stores: BlockStore[] = []
    for (const { source } of model.parts) {
      if (url !== undefined) stores.push(sourceStore(source))
      else {
        // Reads that begin at any byte: the first tensor of each read is aligned in memory, and rarely must any be moved.
        const { direct = false } = options
        const store: FileStore = await openFileStore(
          source.name,
          direct === false ? { blockBytes: 1, ...options } : options,
        )
        opened.push(store)
        stores.push(store)
      }
    }
    const store = joinStores(stores)
    const catalogue = new Catalogue(model, options)
    const files = model.parts.map(({ source }, part) => {
      return [{ fileOffsetBytes: 0, deviceOffsetBytes: store.starts[part]!, lengthBytes: source.sizeBytes }]
    })
    return { ...modelInPlace(catalogue, store, files), catalogue, close, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

function urlOf(path: string | URL): URL | undefined {
  if (path instanceof URL) return path.protocol === 'file:' ? undefined : path
  return /^https?:\/\//i.test(path) ? new URL(path) : undefined
}

function pathOf(path: string | URL): string {
  if (path instanceof URL) return fileURLToPath(path)
  if (typeof path !== 'string') throw invalidArgument('path', 'a path or a URL', describeValue(path))
  return /^file:\/\//i.test(path) ? fileURLToPath(path) : path
}

/** Other parts are expected next to the URL, with the same query, which may contain credentials. */
function openServed(url: URL, { http, ...options }: ModelInFilesOptions): Promise<OpenedModel> {
  const name = decodeURIComponent(url.pathname.slice(url.pathname.lastIndexOf('/') + 1))
  const openPart = (part: string) => {
    const address = new URL(encodeURIComponent(part), url)
    address.search = url.search
    return openHttpSource(address, { ...(options.signal && { signal: options.signal }), ...http })
  }
  return openModelParts(name, openPart, options)
}
