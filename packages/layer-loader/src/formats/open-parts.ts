import type { ByteSource } from './byte-source.js'
import { openFileSource } from './file-source.js'
import { readGgufParts } from './gguf-split.js'
import { readOptionsOf, type ReadOptions } from './limits.js'
import type { Model } from './model.js'
import type { OpenModelOptions } from './open-model.js'
import { modelOf, type PartContent } from './part-content.js'
import { PartFiles, type OpenPart } from './part-files.js'
import { readSafetensorsParts, readShards } from './safetensors-shards.js'
import { sniff } from './sniff.js'

/** A model and its open files. */
export interface OpenedModel extends Model {
  /** Closes all files. Idempotent; reading tensors afterwards is an error. */
  close(): Promise<void>
  /** Same as `close`. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Opens a model by the path of any of its files: a part of a split GGUF, a safetensors index, or a shard with its index
 * in the same directory. The other files are expected there too.
 *
 * @throws LoaderError (MODEL_NOT_FOUND) and the other errors of `openFileSource`; errors of `openModelParts`.
 */
export function openModelFile(path: string, options: OpenModelOptions = {}): Promise<OpenedModel> {
  // Cut, not parsed: joined again, the path is unchanged, whatever links and dots it contains.
  const nameStart = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1
  const folder = path.slice(0, nameStart)
  return openModelParts(path.slice(nameStart), (name) => openFileSource(folder + name), options)
}

/**
 * Opens a model of one or several files from any storage: `openPart` is called with the name of each file, one after
 * the other. Only headers are read, as by `openModel`.
 *
 * @param name name of any file of the model.
 * @returns a model that owns the opened files. After an error, all are closed.
 * @throws LoaderError (PART_NOT_FOUND) if the opener does not find a file; SplitError or ShardError if the files do not
 * match; errors of `openModel` for each of them.
 */
export async function openModelParts(
  name: string,
  openPart: OpenPart,
  options: OpenModelOptions = {},
): Promise<OpenedModel> {
  const reading = readOptionsOf(options)
  const files = new PartFiles(openPart)
  try {
    const contents = await readParts(name, await files.open(name), files, reading)
    const close = (): Promise<void> => files.close()
    return { ...modelOf(contents, options.naming), close, [Symbol.asyncDispose]: close }
  } catch (error) {
    await files.close()
    throw error
  }
}

async function readParts(
  name: string,
  source: ByteSource,
  files: PartFiles,
  reading: ReadOptions,
): Promise<[PartContent, ...PartContent[]]> {
  switch (await sniff(source, reading.signal)) {
    case 'gguf':
      return readGgufParts(name, source, files, reading)
    case 'safetensors':
      return readSafetensorsParts(name, source, files, reading)
    case 'safetensors index':
      return readShards(source, files, reading)
  }
}
