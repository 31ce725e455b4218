// Streaming a model file from the page cache into new memory, as `gpunvme load` does: by native code and by node:fs.
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { nativeFileReader } from '@gpunvme/cuda-native/host'
import { openModelInFiles, streamLayers } from '@gpunvme/layer-loader'
import { scratchFolder } from './lib/demo-drive.mjs'

const MIB = 1024 * 1024
const LAYERS = 32
const LAYER_BYTES = 32 * MIB
const ROUNDS = 7

export async function bench() {
  const path = writeModel()
  const native = { reader: nativeFileReader() }
  // Brings the file into the page cache.
  await stream(path, native)
  const rounds = []
  for (let round = 0; round < ROUNDS; round++)
    rounds.push({ native: await stream(path, native), fs: await stream(path, {}) })
  const median = (values) => values.sort((a, b) => a - b)[ROUNDS >> 1]
  const gbs = (key) => (LAYERS * LAYER_BYTES) / median(rounds.map((each) => each[key])) / 1e6
  return [
    {
      name: 'Streaming a cached model file of 1 GiB into new memory by `nativeFileReader`, compared with `node:fs`',
      value: median(rounds.map(({ native, fs }) => fs / native)),
      unit: '×',
      note: `${gbs('native').toFixed(1)} and ${gbs('fs').toFixed(1)} GB/s, not verified; tensors at odd offsets; median of ${ROUNDS}; 2 slots`,
    },
  ]
}

/** Writes a safetensors file whose tensors have offsets that are not multiples of 16, and returns its path. */
function writeModel() {
  const path = join(scratchFolder(), 'model.safetensors')
  const tensors = Array.from({ length: LAYERS }, (_, layer) => {
    const data_offsets = [layer * LAYER_BYTES, (layer + 1) * LAYER_BYTES]
    return [`model.layers.${layer}.weight`, { dtype: 'U8', shape: [LAYER_BYTES], data_offsets }]
  })
  const json = JSON.stringify(Object.fromEntries(tensors))
  const length = Buffer.alloc(8)
  const header = json.padEnd(Math.ceil(json.length / 16) * 16 + 1)
  length.writeBigUInt64LE(BigInt(header.length))
  const file = openSync(path, 'w')
  for (const part of [length, Buffer.from(header)]) writeSync(file, part)
  for (let layer = 0; layer < LAYERS; layer++) writeSync(file, Buffer.alloc(LAYER_BYTES, layer + 1))
  closeSync(file)
  return path
}

/** Returns the milliseconds of streaming all layers. */
async function stream(path, options) {
  const model = await openModelInFiles(path, options)
  const startMs = performance.now()
  for await (const layer of streamLayers(model, { verify: 'off', slots: 2 })) layer.release()
  const wallMs = performance.now() - startMs
  await model.close()
  return wallMs
}
