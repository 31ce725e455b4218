// The machine where the predecessor of this project was measured, in virtual time: its drive, the eight GPU lanes
// shared by copies and writes of the drive, and the 80 layers of its model.
import { Controller } from '@gpunvme/host-driver'
import { namespaceStore } from '@gpunvme/layer-loader'
import { costModel, simulate, SimulatedHost, unverifiableMedia } from '@gpunvme/nvme-sim'

const GIB = 2 ** 30

/** A layer of Llama 3.1 70B in Q6_K: 669.4 MiB. */
export const LAYER_BYTES = 701_890_560
export const LAYERS = 80

/** Measured: copying a layer from pinned memory over PCIe Gen3 x8. */
export const COPY_NS = 103e6

/** Measured: computing a layer. */
export const COMPUTE_NS = 0.7e6

/** The drive's largest command, with the number in flight used there. */
export const READS = { commandBytes: 2 ** 20, inFlight: 32 }

export const layers = Array.from({ length: LAYERS }, (_, index) => ({
  name: `layer ${index}`,
  lengthBytes: LAYER_BYTES,
}))

export const cost = {
  ...costModel('sn740'),
  copyNs: (lengthBytes) => (lengthBytes / LAYER_BYTES) * COPY_NS,
}

/** Calls `use` with the rig, and closes all parts afterwards. Data are not moved, since only time matters. */
export async function onRig(use) {
  const host = new SimulatedHost({
    hostMemoryBytes: 64 * GIB,
    gpu: { vramBytes: 24 * GIB, linkBytesPerSecond: LAYER_BYTES / (COPY_NS / 1e9), movesData: false },
  })
  const media = unverifiableMedia({ capacityBytes: 512e9 })
  const { transport } = simulate({ host, profile: 'sn740', namespaces: [{ media }] })
  const controller = await Controller.open(transport, { queueDepth: 64, maxTransferBytes: READS.commandBytes })
  try {
    return await use({ host, gpu: host.gpu, clock: host.clock, store: namespaceStore(controller.namespace(1)) })
  } finally {
    await controller.close()
  }
}

/** Returns a source of the drive's layers, placed consecutively, for residence: plain reads without checksums. */
export function plainSource({ store, clock }) {
  return {
    clock,
    open({ slots, slotBytes, where }) {
      const all = Array.from({ length: slots }, () => store.dma.alloc(slotBytes, { where }))
      const free = [...all]
      const waiting = []
      let lastEndNs = 0
      const take = async () => free.pop() ?? (await new Promise((resolve) => waiting.push(resolve)))
      const give = (memory) => {
        const next = waiting.shift()
        if (next) next(memory)
        else free.push(memory)
      }
      return {
        async load(layer, signal) {
          const memory = await take()
          const index = Number(layer.slice('layer '.length))
          const transfer = { offsetBytes: index * LAYER_BYTES, lengthBytes: LAYER_BYTES, memoryBytes: 0 }
          const { startNs, endNs, bytes } = await store.read([transfer], memory, { signal })
          const read = { bytes, startNs: Math.max(startNs, Math.min(lastEndNs, endNs)), endNs }
          lastEndNs = endNs
          return { memory, lengthBytes: bytes, tensors: [], verified: false, read, release: () => give(memory) }
        },
        async close() {
          for (const memory of all) memory.free()
        },
      }
    },
  }
}
