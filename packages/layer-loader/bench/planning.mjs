// Cost of planning the reads of a 281 GB model in 59 shards, from its index and headers.
import { loadPlanFor, modelInPlace } from '@gpunvme/layer-loader'
import { Catalogue, openModelParts } from '@gpunvme/layer-loader/formats'
import { shardedModel } from './lib/sharded-model.mjs'

const SHARDS = 59
const MODEL_BYTES = 281e9

export async function bench() {
  const files = shardedModel({ shards: SHARDS, modelBytes: MODEL_BYTES })
  globalThis.gc()
  const before = process.memoryUsage()
  const headers = performance.now()
  const model = await openModelParts('model.safetensors.index.json', files.open)
  const headersMs = performance.now() - headers

  const start = performance.now()
  const catalogue = new Catalogue(model)
  const stored = inPlace(catalogue)
  const plans = []
  for (const name of catalogue.layers) {
    plans.push(loadPlanFor(stored.store, stored.layer(name), { verify: 'off' }))
    for (const expert of catalogue.experts(name)) {
      plans.push(loadPlanFor(stored.store, stored.expert(name, expert), { verify: 'off' }))
    }
  }
  const plannedMs = performance.now() - start
  globalThis.gc()
  const after = process.memoryUsage()
  const heldMb = (after.heapUsed + after.external - before.heapUsed - before.external) / 1e6
  const tensors = model.tensors.length
  const pieces = plans.reduce((sum, plan) => sum + plan.pieces.length, 0)
  await model.close()
  return [
    {
      name: `Planning the reads of every layer and expert of a ${(MODEL_BYTES / 1e9).toFixed(0)} GB model in ${SHARDS} shards, after reading its headers`,
      value: plannedMs / 1000,
      unit: 's',
      goal: '< 1 s',
      met: plannedMs < 1000,
      note: `${tensors} tensors, ${plans.length} plans of ${pieces} pieces; reading index and headers takes another ${(headersMs / 1000).toFixed(2)} s`,
    },
    {
      name: 'Memory of the catalogue and these plans',
      value: heldMb,
      unit: 'MB',
      goal: '< 200 MB',
      met: heldMb < 200,
    },
  ]
}

/** Places the shards consecutively on a drive that is never read. */
function inPlace(catalogue) {
  let capacityBytes = 0
  const files = catalogue.model.parts.map(({ source }) => {
    const run = { fileOffsetBytes: 0, deviceOffsetBytes: capacityBytes, lengthBytes: source.sizeBytes }
    capacityBytes += Math.ceil(source.sizeBytes / 4096) * 4096
    return [run]
  })
  const read = () => Promise.reject(new Error('planning reads nothing'))
  return modelInPlace(catalogue, { name: 'drive', blockBytes: 512, capacityBytes, read }, files)
}
