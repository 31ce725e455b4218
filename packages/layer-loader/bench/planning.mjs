// What it takes to know where everything of a 281 GB model in 59 shards lies, from its index and headers alone.
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
  let bytes = 0
  let pieces = 0
  for (const name of catalogue.layers) {
    const extent = catalogue.layer(name)
    bytes += extent.lengthBytes
    pieces += extent.pieces.length
    for (const expert of catalogue.experts(name)) pieces += catalogue.expert(name, expert).pieces.length
  }
  const plannedMs = performance.now() - start
  globalThis.gc()
  const after = process.memoryUsage()
  const heldMb = (after.heapUsed + after.external - before.heapUsed - before.external) / 1e6
  const tensors = model.tensors.length
  await model.close()
  return [
    {
      name: `Planning every layer and expert of a ${(bytes / 1e9).toFixed(0)} GB model of ${SHARDS} shards, after its headers are read`,
      value: plannedMs / 1000,
      unit: 's',
      goal: '< 1 s',
      met: plannedMs < 1000,
      note: `${tensors} tensors, ${pieces} pieces; reading index and headers ${(headersMs / 1000).toFixed(2)} s more`,
    },
    {
      name: 'Memory that catalogue and plans hold',
      value: heldMb,
      unit: 'MB',
      goal: '< 200 MB',
      met: heldMb < 200,
    },
  ]
}
