/**
 * Repair of a damaged image by packing again. 'replace-model': pack the model again with `{ replace: true }`.
 * 'replace-image': pack all models again, the first with `{ replace: 'image' }`, which discards the whole image.
 */
export type Remedy = 'replace-model' | 'replace-image'
