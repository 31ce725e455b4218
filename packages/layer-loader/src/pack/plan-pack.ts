import { LoaderError } from '../error.js'
import { describeValue, invalidArgument } from '../formats/invalid-argument.js'
import type { Model } from '../formats/model.js'
import { ALIGNMENT_BYTES, MAX_MANIFEST_BYTES } from '../image/format.js'
import { requireHeaders } from '../load/require-model.js'
import { layOut, type PackPlan } from './lay-out.js'
import { modelNameFor } from './model-name.js'

/** Options of `planPack`. */
export interface PlanPackOptions {
  /** Name of the model in the image. Default: the name in its file, or the file's own name. */
  readonly name?: string
}

/**
 * Lays out a model in image format 1, as the first on a namespace: layers in the order of computation, then the header
 * of its first part, the chunk table, the manifest and the directory. Reads and writes nothing.
 *
 * @param blockBytes logical block size of the namespace, only to reject unsupported ones.
 * @throws LoaderError (INVALID_ARGUMENT, EMPTY_MODEL, IMAGE_BLOCK_SIZE, MANIFEST_TOO_LONG); RangeError for an invalid
 * name.
 */
export function planPack(model: Model, blockBytes: number, options: PlanPackOptions = {}): PackPlan {
  requireHeaders(model)
  if (!Number.isSafeInteger(blockBytes) || blockBytes < 1)
    throw invalidArgument('blockBytes', 'the block size of the store, such as 512', describeValue(blockBytes))
  const name = modelNameFor(model, options.name)
  if (model.tensors.length === 0) throw emptyModel(model)
  if (ALIGNMENT_BYTES % blockBytes !== 0) throw unsuitableBlockSize(blockBytes)
  // With unlimited space, there is always a layout.
  const plan = layOut(model, name, [])!
  refuseLongManifest(model, plan)
  return plan
}

/** @throws LoaderError (MANIFEST_TOO_LONG): high offsets have more digits. */
export function refuseLongManifest(model: Model, { entry }: PackPlan): void {
  const { lengthBytes } = entry.manifest
  if (lengthBytes > MAX_MANIFEST_BYTES) throw manifestTooLong(model, lengthBytes)
}

/** Error of packing a model without tensors. */
export function emptyModel({ parts }: Model): LoaderError {
  return new LoaderError(
    'ERR_GPUNVME_EMPTY_MODEL',
    'infeasible',
    `Cannot pack ${parts[0].source.name}: it has no tensors`,
    { next: 'use the file that has the weights' },
  )
}

/** Error of a logical block size that does not divide the image's alignment. */
export function unsuitableBlockSize(blockBytes: number): LoaderError {
  const headline = `An image requires logical blocks that divide ${ALIGNMENT_BYTES} bytes; the namespace has ${blockBytes}`
  return new LoaderError('ERR_GPUNVME_IMAGE_BLOCK_SIZE', 'infeasible', headline, {
    next: `format the namespace with 512-byte or ${ALIGNMENT_BYTES}-byte blocks (this erases it)`,
  })
}

/** Error of a model with more or longer names than a manifest can hold. */
export function manifestTooLong({ parts, tensors }: Model, manifestBytes: number): LoaderError {
  const headline = `Cannot pack ${parts[0].source.name}: its manifest would be too long`
  return new LoaderError('ERR_GPUNVME_MANIFEST_TOO_LONG', 'infeasible', headline, {
    facts: [`${manifestBytes} bytes for ${tensors.length} tensors`, `image format 1 allows ${MAX_MANIFEST_BYTES}`],
  })
}
