// Streams a model from a simulated drive into GPU memory, by the engine cuda, and compares every byte there.
//
//   node stream-to-gpu.mjs MODEL.gguf
//
// The drive is @gpunvme/nvme-sim's on a thread of its own; kernels on the GPU write its queues and ring it. What they
// read goes to host memory and is copied from there to the GPU (tier 1), where kernels compute the CRC-32 of every
// tensor; the expected ones are zlib's, of the file. A part of the layers stays on the GPU, a part in host memory, the
// rest is read again each pass. Exit status 1 where a byte is not what it should be.
import { openSync, readSync, statSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { cudaChecksummer, cudaEngine, openCuda } from '@gpunvme/cuda-native/cuda'
import { loadHardwareHost, nativeHostModule } from '@gpunvme/cuda-native/host'
import { Controller } from '@gpunvme/host-driver'
import {
  asModel,
  layerSizes,
  loaderSource,
  measureCost,
  openImage,
  openResidence,
  pack,
  planResidence,
} from '@gpunvme/layer-loader'
import { openModelFile } from '@gpunvme/layer-loader/formats'
import { startRealTimeSimulator } from '@gpunvme/nvme-sim/realtime'

const MIB = 1024 * 1024
/** What one checksum is of. */
const CHUNK_BYTES = MIB
const PASSES = 3

const [path] = process.argv.slice(2)
if (path === undefined) throw new TypeError('expected the path of a model')

const memory = loadHardwareHost().allocate(256 * MIB, 4096)
const simulator = await startRealTimeSimulator({
  ...{ module: nativeHostModule, address: memory.address, lengthBytes: memory.lengthBytes },
  namespaces: [{ blockBytes: 512, capacityBytes: 2 * statSync(path).size + 64 * MIB }],
})
const cuda = openCuda()
const checksums = cudaChecksummer(cuda)
const engine = cudaEngine(simulator.transport, cuda)
const write = { serial: 'GPUNVME-SIM-1' }
const controller = await Controller.open(simulator.transport, { engine, queueDepth: 32, write })

const file = await openModelFile(path)
await pack(file, controller.namespace(1))
const expected = checksumsOf(file.tensors)
await file.close()

const model = asModel((await openImage(controller.namespace(1))).model())
const layers = layerSizes(model)
const copies = cuda.copyEngine()
const measured = await measureCost(model.store, { copies, sampleBytes: 32 * MIB })
const rate = (ns) => `${((16 * MIB) / ns).toFixed(1)} GB/s`
console.log(`reads ${rate(measured.readNs(16 * MIB, 32))}, copies to the GPU ${rate(measured.copyNs(16 * MIB))}`)
// As if the drive were the slower of the two, as drives are: then host memory is worth having.
const cost = { ...measured, readNs: (bytes) => 2 * measured.copyNs(bytes) }
// Two layers stay on the GPU and two in host memory, beside the slots that the others go through.
const longest = Math.max(...layers.map(({ lengthBytes }) => lengthBytes))
const budget = { vramBytes: 5 * longest, ramBytes: 5 * longest }
const plan = planResidence(layers, { budget, tier: 1, slots: { copies: 2, drive: 2 }, cost, costFrom: 'measured' })
console.log(`layers: ${plan.layers.map(({ name, residence }) => `${name} (${residence})`).join(', ')}`)

const resident = await openResidence(plan, { source: loaderSource(model), copies })
let [tensors, bytes, wrong] = [0, 0, 0]
const startMs = performance.now()
for (let pass = 0; pass < PASSES; pass++) {
  for await (const layer of resident.pass({ isLast: pass === PASSES - 1 })) {
    if (!layer.verified) throw new Error(`${layer.name}: expected the host to have verified it`)
    for (const { name, offsetBytes, lengthBytes } of layer.tensors) {
      const found = new Uint32Array(Math.ceil(lengthBytes / CHUNK_BYTES))
      await checksums.checksum(layer.memory, offsetBytes, lengthBytes, CHUNK_BYTES, found)
      const chunks = expected.get(name)
      const bad = found.reduce((sum, value, chunk) => sum + (value === chunks[chunk] ? 0 : 1), 0)
      if (bad > 0) console.log(`pass ${pass}, ${layer.name} (${layer.residence}): ${bad} chunks of ${name} are wrong`)
      wrong += bad
      tensors++
      bytes += lengthBytes
    }
    layer.release()
  }
}
const seconds = (performance.now() - startMs) / 1000
const { ioCommands } = await simulator.statistics()
console.log(`${PASSES} passes: ${tensors} tensors, ${bytes} bytes in GPU memory, wrong chunks: ${wrong}`)
console.log(`${(bytes / seconds / 1e9).toFixed(2)} GB/s of layers, checksums included; engine ${engine.name}`)
console.log(`commands of the drive by opcode: ${JSON.stringify(ioCommands)}`)
console.log(JSON.stringify(resident.statistics))

await resident.close()
copies.close()
checksums.close()
await controller.close()
await cuda.close()
await simulator.close()
memory.unmap()
process.exitCode = wrong === 0 && tensors > 0 ? 0 : 1

/** By the name of the tensor: zlib's CRC-32 of each chunk, as its file has it. */
function checksumsOf(all) {
  const fd = openSync(path, 'r')
  const chunk = new Uint8Array(CHUNK_BYTES)
  return new Map(
    all.map(({ name, offsetBytes, lengthBytes }) => {
      const sums = []
      for (let at = 0; at < lengthBytes; at += CHUNK_BYTES) {
        const length = readSync(fd, chunk, 0, Math.min(CHUNK_BYTES, lengthBytes - at), offsetBytes + at)
        sums.push(crc32(chunk.subarray(0, length)))
      }
      return [name, sums]
    }),
  )
}
