// node beside-work-passes.mjs IMAGE ROUNDS MS: in each round, streams IMAGE alone, and beside a caller that computes MS
// milliseconds on the same thread after each layer. Prints [{ readMs, workMs, wallMs }], one entry per round.
import { nativeFileReader } from '@gpunvme/cuda-native/host'
import { openImage, streamLayers } from '@gpunvme/layer-loader'
import { openFileStore } from '@gpunvme/layer-loader/store'

const path = process.argv[2]
const [rounds, eachMs] = process.argv.slice(3).map(Number)

const store = await openFileStore(path, { reader: nativeFileReader() })
const model = (await openImage(store)).model()
const layers = [...model.layers, ...model.layers]

/** Streams all layers twice. Returns the times of the second pass, which needs no new memory. */
async function stream(computeMs) {
  let [startMs, workMs, count] = [0, 0, 0]
  for await (const layer of streamLayers(model, { slots: 2, layers })) {
    if (count++ === model.layers.length) [startMs, workMs] = [performance.now(), 0]
    const workStartMs = performance.now()
    while (performance.now() - workStartMs < computeMs);
    workMs += performance.now() - workStartMs
    layer.release()
  }
  return { wallMs: performance.now() - startMs, workMs }
}

// Brings the file into the page cache.
await stream(0)
const results = []
for (let round = 0; round < rounds; round++) {
  const { wallMs: readMs } = await stream(0)
  results.push({ readMs, ...(await stream(eachMs)) })
}
await store.close()
console.log(JSON.stringify(results))
