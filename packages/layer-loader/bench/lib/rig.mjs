// The machine where the predecessor of this project was measured, in virtual time: its drive, the eight GPU lanes
// shared by copies and writes of the drive, and the 80 layers of its model.
import { Controller } from '@gpunvme/host-driver'
import { namespaceStore } from '@gpunvme/layer-loader/store'
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

/** Calls `use` with the rig, and closes its controller afterwards. The rig moves no data, since only time matters. */
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

/** Returns the layers as a model without checksums, placed consecutively on the drive. */
export function modelOn({ store }) {
  const names = layers.map(({ name }) => name)
  const layer = (name) => {
    const run = { storeBytes: names.indexOf(name) * LAYER_BYTES, lengthBytes: LAYER_BYTES }
    const piece = { name: `${name} weights`, dtype: 'U8', shape: [LAYER_BYTES], lengthBytes: LAYER_BYTES, runs: [run] }
    return { name, pieces: [piece], checks: [] }
  }
  // A loader rejects media that move no data. This hides that property, since only time matters here.
  const timed = Object.create(store, { movesData: { value: undefined } })
  return { name: 'llama-3.1-70b-q6_k', store: timed, layers: names, hasChecksums: false, layer }
}
