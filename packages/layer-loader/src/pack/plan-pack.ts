import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { Model, Tensor } from '../formats/model.js'
import { quote } from '../formats/quote.js'
import { ALIGNMENT_BYTES, MAX_MANIFEST_BYTES } from '../image/format.js'
import { layOut, type PackPlan } from './lay-out.js'
import { modelNameFor } from './model-name.js'

export interface PlanPackOptions {
  /** The model's name in the image; when not given, what its file calls it, or the file's own name. */
  readonly name?: string
}

/**
 * Lays a model out as image format 1 does, as the first on a namespace: layers in order of computation, then the
 * header of its first part, the chunk table, the manifest and the directory. Pure: nothing is read or written.
 *
 * @param blockBytes of the namespace; only to refuse those that the format does not fit.
 * @throws EmptyModelError, UnloadableTensorsError, BlockSizeError, ManifestTooLongError; RangeError for a bad name.
 */
export function planPack(model: Model, blockBytes: number, options: PlanPackOptions = {}): PackPlan {
  const name = modelNameFor(model, options.name)
  if (model.tensors.length === 0) throw new EmptyModelError(model)
  const unloadable = model.tensors.filter(({ loadable }) => !loadable)
  if (unloadable.length > 0) throw new UnloadableTensorsError(model, unloadable)
  if (ALIGNMENT_BYTES % blockBytes !== 0) throw new BlockSizeError(blockBytes)
  // Where nothing limits the room, there is always some.
  const plan = layOut(model, name, [])!
  refuseLongManifest(model, plan)
  return plan
}

/** @throws ManifestTooLongError: of places far inside a namespace, the numbers are longer. */
export function refuseLongManifest(model: Model, { entry }: PackPlan): void {
  const { lengthBytes } = entry.manifest
  if (lengthBytes > MAX_MANIFEST_BYTES) throw new ManifestTooLongError(model, lengthBytes)
}

/** A model without tensors. */
export class EmptyModelError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_EMPTY_MODEL'
  readonly category = 'infeasible'

  constructor({ parts }: Model) {
    super(`Cannot pack ${parts[0].source.name}: it has no tensors`, { next: 'name the file that holds the weights' })
  }
}

/** The model has tensors whose type is unknown or retired, so that nobody could use what would be written. */
export class UnloadableTensorsError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_UNLOADABLE_TENSORS'
  readonly category = 'infeasible'
  readonly tensors: readonly Tensor[]

  constructor({ parts }: Model, tensors: readonly Tensor[]) {
    const shown = tensors.slice(0, 10).map(({ name, dtype }) => `${quote(name)} is of ${quote(dtype)}`)
    const more = tensors.length > shown.length ? [`and ${tensors.length - shown.length} more`] : []
    super(`Cannot pack ${parts[0].source.name}: ${tensors.length} of its tensors are of a type that is not known`, {
      facts: [...shown, ...more],
      next: 'convert the model with a current tool, or use a newer @gpunvme/layer-loader',
    })
    this.tensors = tensors
  }
}

/** The namespace's logical blocks do not divide the image's alignment. */
export class BlockSizeError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_IMAGE_BLOCK_SIZE'
  readonly category = 'infeasible'

  constructor(blockBytes: number) {
    super(`An image needs logical blocks that divide ${ALIGNMENT_BYTES} bytes, the namespace has ${blockBytes}`, {
      next: `format the namespace with 512-byte or ${ALIGNMENT_BYTES}-byte blocks (this erases it)`,
    })
  }
}

/** The model has more or longer names than a manifest holds. */
export class ManifestTooLongError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_MANIFEST_TOO_LONG'
  readonly category = 'infeasible'

  constructor({ parts, tensors }: Model, manifestBytes: number) {
    super(`Cannot pack ${parts[0].source.name}: its manifest would be too long`, {
      facts: [`${manifestBytes} bytes for ${tensors.length} tensors`, `image format 1 allows ${MAX_MANIFEST_BYTES}`],
    })
  }
}
