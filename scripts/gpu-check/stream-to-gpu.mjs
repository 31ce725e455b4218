// Streams a model from a simulated drive into GPU memory, and verifies every byte there.
//
//   node stream-to-gpu.mjs MODEL.gguf
//
// Kernels on the GPU submit the reads (engine cuda). Some layers stay in GPU memory, some in host memory, the others
// are read in each pass. Exit status 1 if a byte differs.
import { statSync } from 'node:fs'
import { openRig } from '@gpunvme/tools/open'

const PASSES = 3
const [model] = process.argv.slice(2)
const memory = 0.75 * statSync(model).size
const sim = { profile: 'ideal', realTime: true }
const rig = await openRig({ model, sim, engine: 'cuda', gpu: 0, vram: memory, ram: memory })
for (const { subject, chosen, reason } of rig.decisions) console.log(`${subject}: ${chosen} (${reason})`)
console.log(`layers: ${rig.placement.layers.map(({ name, residence }) => `${name} (${residence})`).join(', ')}`)
const startMs = performance.now()
let bytes = 0
for (let pass = 0; pass < PASSES; pass++) {
  for await (const layer of rig.loader.pass({ isLast: pass === PASSES - 1 })) {
    if (!layer.verifiedOnGpu) throw new Error(`${layer.name}: expected its bytes to be verified in GPU memory`)
    bytes += layer.lengthBytes
    layer.release()
  }
}
const seconds = (performance.now() - startMs) / 1000
console.log(`${PASSES} passes: ${bytes} bytes verified in GPU memory, ${(bytes / seconds / 1e9).toFixed(2)} GB/s`)
console.log(JSON.stringify(rig.loader.statistics))
await rig.close()
