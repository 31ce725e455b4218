import { Catalogue, type CatalogueOptions } from '../formats/catalogue.js'
import { openModelFile } from '../formats/open-parts.js'
import type { OpenModelOptions } from '../formats/open-model.js'
import { openFileStore, type FileStoreOptions } from '../store/file-store.js'
import { joinStores } from '../store/joined-store.js'
import type { StoredModel } from './extent.js'
import { modelInPlace } from './model-in-place.js'

export interface ModelInFilesOptions extends OpenModelOptions, CatalogueOptions, FileStoreOptions {}

/** A model in plain files, ready to be loaded, and what closes them. */
export interface ModelInFiles {
  readonly model: StoredModel
  readonly catalogue: Catalogue
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Opens a model of one file or several to be loaded from where they are, without any drive of its own: by the path of
 * its file, of any part of a split GGUF, of a safetensors index or shard.
 * @throws what `openModelFile` and `openFileStore` throw; then nothing stays open.
 */
export async function openModelInFiles(path: string, options: ModelInFilesOptions = {}): Promise<ModelInFiles> {
  const opened: { close(): Promise<void> }[] = []
  const close = async () => {
    for (const each of opened.splice(0).reverse()) await each.close()
  }
  try {
    const model = await openModelFile(path, options)
    opened.push(model)
    const stores = []
    for (const { source } of model.parts) {
      const store = await openFileStore(source.name, options)
      opened.push(store)
      stores.push(store)
    }
    const store = joinStores(stores)
    const catalogue = new Catalogue(model, options)
    const files = model.parts.map(({ source }, part) => {
      return [{ fileOffsetBytes: 0, deviceOffsetBytes: store.starts[part]!, lengthBytes: source.sizeBytes }]
    })
    return { model: modelInPlace(catalogue, store, files), catalogue, close, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}
