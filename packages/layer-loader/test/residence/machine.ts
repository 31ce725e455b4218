import { crc32 } from 'node:zlib'
import { Controller } from '@gpunvme/host-driver'
import { deriveProfile, simulate, SimulatedHost, type GpuOptions, type SimulationOptions } from '@gpunvme/nvme-sim'
import type { Checksummer, CostModel, DeviceMemory, DmaMemory } from '@gpunvme/nvme-spec/transport'
import { onTestFinished } from 'vitest'
import { openImage } from '../../src/index.js'
import { pack } from '../../src/image/index.js'
import {
  layerSizes,
  openResidence,
  type ResidencePlan,
  type ResidentLease,
  type ResidentModelOptions,
} from '../../src/residence/index.js'
import type { Model } from '../../src/formats/index.js'
import type { LoadableModel } from '../../src/load/extent.js'
import { layeredModel, tensorBytes } from '../models.js'

export const LAYERS = 8
export const LAYER_BYTES = 1 << 20

/** A byte takes 1 ns on the drive and 0.5 ns on the link of the GPU. */
export const cost: CostModel = { readNs: (bytes) => bytes, copyNs: (bytes) => bytes / 2 }

/** A drive with the read cost of `cost`. */
const profile = deriveProfile('ideal', { readBytesPerSecond: 1e9 })

/** Computes checksums of GPU memory, in place of a kernel. */
export const onGpu: Checksummer = {
  name: 'test',
  checksum(memory, offsetBytes, lengthBytes, chunkBytes, into) {
    for (let at = 0, chunk = 0; at < lengthBytes; at += chunkBytes, chunk++) {
      const bytes = new Uint8Array(Math.min(chunkBytes, lengthBytes - at))
      memory.copyOut!(offsetBytes + at, bytes)
      into[chunk] = crc32(bytes)
    }
    return Promise.resolve()
  },
}

export interface MachineOptions {
  readonly model?: Promise<Model>
  readonly gpu?: Partial<GpuOptions>
  readonly drive?: Omit<SimulationOptions, 'host'>
}

/** Returns a host with a GPU and a drive with a packed model; `open` loads it and verifies reads and copies. */
export async function machine({ model: given, gpu, drive }: MachineOptions = {}) {
  const model = await (given ?? layeredModel(LAYERS, LAYER_BYTES))
  const host = new SimulatedHost({ gpu: { vramBytes: 64 << 20, linkBytesPerSecond: 2e9, ...gpu } })
  const simulation = simulate({ host, profile, namespaces: [{ capacityBytes: 64 << 20 }], ...drive })
  const controller = await Controller.open(simulation.transport, { write: { serial: 'GPUNVME-SIM-1' } })
  onTestFinished(() => controller.close())
  await pack(model, controller.namespace(1))
  const image = (await openImage(controller.namespace(1))).model()
  const { copies } = host.gpu!
  const open = (plan: ResidencePlan, options: ResidentModelOptions = {}, model: LoadableModel = image) =>
    openResidence(model, plan, { copies, onGpu: { checksummer: onGpu }, ...options })
  return { model, host, simulation, image, copies, layers: layerSizes(image), open }
}

/** Returns whether a lease is verified and its tensors in GPU memory are byte-identical to the file. */
export async function isWhole(lease: ResidentLease, model: Model): Promise<boolean> {
  const { tensors, verified } = lease
  // `copyOut` reads all memory of the simulated GPU.
  const memory: DeviceMemory & Pick<DmaMemory, 'copyOut'> = lease.memory
  for (const { name, offsetBytes, lengthBytes } of tensors) {
    const bytes = new Uint8Array(lengthBytes)
    memory.copyOut!(offsetBytes, bytes)
    if (Buffer.compare(bytes, await tensorBytes(model, name)) !== 0) return false
  }
  return verified && tensors.length > 0
}
