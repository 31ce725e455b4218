// Reads layers of a GGUF in place, spread over the file, and prints the peak resident memory of the process.
import { modelInPlace, streamLayers } from '@gpunvme/layer-loader'
import { openFileStore, storeSource } from '@gpunvme/layer-loader/store'
import { Catalogue, openModel } from '@gpunvme/layer-loader/formats'

const [path, count] = process.argv.slice(2)
const store = await openFileStore(path)
const source = storeSource(store)
const catalogue = new Catalogue(await openModel(source))
const file = [{ fileOffsetBytes: 0, deviceOffsetBytes: 0, lengthBytes: source.sizeBytes }]
const model = modelInPlace(catalogue, store, [file])
const step = model.layers.length / Number(count)
const layers = Array.from({ length: Number(count) }, (_, index) => model.layers[index * step])
for await (const layer of streamLayers(model, { slots: 2, verify: 'off', layers })) layer.release()
await store.close()
console.log(JSON.stringify({ peakBytes: process.resourceUsage().maxRSS * 1024 }))
