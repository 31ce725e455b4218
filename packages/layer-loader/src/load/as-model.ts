import type { PackedModel } from '../image/open-image.js'
import type { StoredModel } from './extent.js'
import { packedModel } from './packed-model.js'

/** A loadable model: one of an image, or one that is stored in any other way. */
export type Loadable = PackedModel | StoredModel

/** Returns the model itself, or the stored model of a packed one. */
export function asModel(model: Loadable): StoredModel {
  return 'chunkCrcs' in model ? packedModel(model) : model
}
