import type { PackedModel } from '../image/open-image.js'
import type { StoredModel } from './extent.js'
import { packedModel } from './packed-model.js'

/** What can be loaded: a model of an image, or one that lies on a store in any other way. */
export type Loadable = PackedModel | StoredModel

export function asModel(model: Loadable): StoredModel {
  return 'chunkCrcs' in model ? packedModel(model) : model
}
