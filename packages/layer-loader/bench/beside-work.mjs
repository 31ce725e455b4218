// Streaming from a cached file beside a caller that computes on the same thread: how much of the reading is hidden.
import { nativeFileReader } from '@gpunvme/cuda-native/host'
import { openImage, streamLayers } from '@gpunvme/layer-loader'
import { openFileStore } from '@gpunvme/layer-loader/store'
import { packToFile } from './lib/demo-drive.mjs'

const GIB = 1024 ** 3
const PASSES = 7

/** Computation of the caller after each layer, in milliseconds. */
const WORK_MS = 20

export async function bench() {
  const path = await packToFile(GIB)
  const store = await openFileStore(path, { reader: nativeFileReader() })
  const model = (await openImage(store)).model()
  // Brings the file into the page cache.
  await streamBeside(model, 0)
  const rounds = []
  for (let round = 0; round < PASSES; round++) {
    const reading = await streamBeside(model, 0)
    const both = await streamBeside(model, WORK_MS)
    const hidden = (reading.wallMs + both.workMs - both.wallMs) / Math.min(reading.wallMs, both.workMs)
    rounds.push({ hidden, readMs: reading.wallMs, ...both })
  }
  await store.close()
  const [middle] = rounds.sort((a, b) => a.hidden - b.hidden).slice(PASSES >> 1)
  const { hidden, readMs, workMs, wallMs } = middle
  return [
    {
      name: `Streaming 1 GiB from a cached file into memory that is in use, verified, beside a caller that computes ${WORK_MS} ms on the same thread after each layer: share of the reading that is hidden`,
      value: hidden * 100,
      unit: '%',
      goal: '≥ 50 %',
      met: hidden >= 0.5,
      note: `reading alone ${readMs.toFixed(0)} ms, computing ${workMs.toFixed(0)} ms, both ${wallMs.toFixed(0)} ms; 2 slots, \`nativeFileReader\``,
    },
  ]
}

/**
 * Streams all layers twice, and computes after each. Returns the wall time of the second pass, which needs no new memory,
 * and the time of computing.
 */
async function streamBeside(model, eachMs) {
  let [startMs, workMs, count] = [0, 0, 0]
  for await (const layer of streamLayers(model, { slots: 2, layers: [...model.layers, ...model.layers] })) {
    if (count++ === model.layers.length) [startMs, workMs] = [performance.now(), 0]
    const workStartMs = performance.now()
    while (performance.now() - workStartMs < eachMs);
    workMs += performance.now() - workStartMs
    layer.release()
  }
  return { wallMs: performance.now() - startMs, workMs }
}
