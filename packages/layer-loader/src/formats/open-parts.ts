import type { ByteSource } from './byte-source.js'
import { openFileSource } from './file-source.js'
import { readGgufParts } from './gguf-split.js'
import { resolveLimits, type FormatLimits } from './limits.js'
import type { Model } from './model.js'
import type { OpenModelOptions } from './open-model.js'
import { modelOf, type PartContent } from './part-content.js'
import { PartFiles, type OpenPart } from './part-files.js'
import { readSafetensorsParts, readShards } from './safetensors-shards.js'
import { sniff } from './sniff.js'

/** A model together with its open files. */
export interface OpenedModel extends Model {
  /** Closes every file. Closing twice is harmless; reading tensors afterwards is an error. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Opens a model by the path of its file, or of any one of its files: a part of a split GGUF, a safetensors index, or a
 * shard that has its index beside it. The others are looked for beside it.
 *
 * @throws ModelNotFoundError and the other errors of `openFileSource`; what `openModelParts` throws.
 */
export function openModelFile(path: string, options: OpenModelOptions = {}): Promise<OpenedModel> {
  // Cut, not parsed: joined again, the path is what was given, whatever links and dots are in it.
  const nameStart = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1
  const folder = path.slice(0, nameStart)
  return openModelParts(path.slice(nameStart), (name) => openFileSource(folder + name), options)
}

/**
 * Opens a model of one file or several, wherever they are: `openPart` is asked for each by its name, one after the
 * other. Only headers are read, as `openModel` does.
 *
 * @param name of the model's file, or of any one of its files.
 * @returns a model that owns what was opened. On an error, everything is closed again.
 * @throws MissingPartError when the opener has no such file; SplitError or ShardError when they do not fit together;
 * what `openModel` throws for each of them.
 */
export async function openModelParts(
  name: string,
  openPart: OpenPart,
  options: OpenModelOptions = {},
): Promise<OpenedModel> {
  const limits = resolveLimits(options.limits)
  const { signal } = options
  const files = new PartFiles(openPart)
  try {
    const contents = await readParts(name, await files.open(name), files, limits, signal)
    const close = (): Promise<void> => files.close()
    return { ...modelOf(contents), close, [Symbol.asyncDispose]: close }
  } catch (error) {
    await files.close()
    throw error
  }
}

async function readParts(
  name: string,
  source: ByteSource,
  files: PartFiles,
  limits: FormatLimits,
  signal: AbortSignal | undefined,
): Promise<[PartContent, ...PartContent[]]> {
  switch (await sniff(source, signal)) {
    case 'gguf':
      return readGgufParts(name, source, files, limits, signal)
    case 'safetensors':
      return readSafetensorsParts(name, source, files, limits, signal)
    case 'safetensors index':
      return readShards(source, files, limits, signal)
  }
}
