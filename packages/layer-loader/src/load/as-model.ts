import { InvalidArgumentError } from '../formats/invalid-argument.js'
import type { PackedModel } from '../image/open-image.js'
import type { StoredModel } from './extent.js'
import { packedModel } from './packed-model.js'

/** A loadable model: one of an image, or one that is stored in any other way. */
export type Loadable = PackedModel | StoredModel

/**
 * Returns the model itself, or the stored model of a packed one.
 * @throws InvalidArgumentError for anything else, with the call that returns a loadable model.
 */
export function asModel(model: Loadable): StoredModel {
  if (has(model, 'chunkCrcs', 'store', 'layers')) return packedModel(model as PackedModel)
  if (has(model, 'checkable', 'store', 'layers', 'layer')) return model as StoredModel
  const [got, next] = describe(model)
  throw new InvalidArgumentError('model', 'a model on a store', got, next)
}

function has(value: unknown, ...keys: readonly string[]): boolean {
  return typeof value === 'object' && value !== null && keys.every((key) => key in value)
}

/** Names a wrong argument, and the call that returns the right one. */
function describe(value: unknown): readonly [got: string, next: string] {
  const files = 'pass the model of openModelInFiles(path)'
  if (has(value, 'superblock', 'models')) return ['an image', 'pass image.model(name)']
  if (has(value, 'catalogue', 'model')) return ['an opened model with its files', 'pass its `model`']
  if (has(value, 'aliases', 'model'))
    return ['a catalogue, which describes files but cannot read them', `${files}, or modelInPlace(catalogue, ...)`]
  if (has(value, 'tensors', 'parts')) return ['headers of model files, which were opened only to be described', files]
  if (has(value, 'blockBytes')) return ['a drive or store', 'pass (await openImage(namespace)).model()']
  return [value === null ? 'null' : typeof value, `${files}, or (await openImage(namespace)).model()`]
}
