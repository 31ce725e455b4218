// The schedule of the predecessor of this project, tier 2, re-created on the simulated rig: layers placed in contiguous
// ranges, a look-ahead of two layers, two slots, and one buffer for all layers of the drive.
import { COMPUTE_NS, LAYER_BYTES, LAYERS } from './rig.mjs'

const VRAM_LAYERS = 20
const RAM_LAYERS = 30

/**
 * Time to copy seven tensors from the buffer within the GPU: each byte is read and written at the RTX 3090's 936 GB/s.
 */
const SCATTER_NS = (2 * LAYER_BYTES) / 936

const placeOf = (index) => (index < VRAM_LAYERS ? 'vram' : index < VRAM_LAYERS + RAM_LAYERS ? 'ram' : 'nvme')

/** Computes one token. Returns its nanoseconds of virtual time. */
export async function originalToken({ store, gpu, clock }) {
  const inHost = store.dma.alloc(LAYER_BYTES)
  const buffer = store.dma.alloc(LAYER_BYTES, { where: 'gpu' })
  const slots = [gpu.copies.alloc(LAYER_BYTES), gpu.copies.alloc(LAYER_BYTES)]
  const read = new Map()
  const transferred = new Map()
  const computed = new Map()
  let bufferIsFree = Promise.resolve()
  const startNs = clock.now()

  for (let layer = 0; layer < LAYERS; layer++) {
    // The worker starts to read the layer after the next one, once the shared buffer is free.
    if (placeOf(layer + 2) === 'nvme' && layer + 2 < LAYERS) {
      const transfer = { offsetBytes: (layer + 2) * LAYER_BYTES, lengthBytes: LAYER_BYTES, memoryBytes: 0 }
      read.set(
        layer + 2,
        bufferIsFree.then(() => store.read([transfer], buffer)),
      )
    }
    // Starts the next layer. Its slot is that of the previous layer, which must be computed first.
    const next = layer + 1
    const slot = slots[next % 2]
    await computed.get(next - 2)
    if (next < LAYERS && placeOf(next) === 'ram') {
      transferred.set(next, gpu.copies.copy(inHost, 0, slot, 0, LAYER_BYTES))
    } else if (next < LAYERS && placeOf(next) === 'nvme') {
      await read.get(next)
      // The predecessor synchronizes the stream here, since there is only one buffer.
      bufferIsFree = gpu.compute(SCATTER_NS)
      await bufferIsFree
    }
    await transferred.get(layer)
    computed.set(layer, gpu.compute(COMPUTE_NS))
  }
  await computed.get(LAYERS - 1)
  const elapsedNs = clock.now() - startNs
  for (const memory of [inHost, buffer, ...slots]) memory.free()
  return elapsedNs
}
