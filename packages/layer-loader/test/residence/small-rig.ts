import { crc32 } from 'node:zlib'
import type { Checksummer, CopyEngine, DeviceMemory, DmaMemory } from '@gpunvme/nvme-spec/transport'
import { openImage } from '../../src/index.js'
import { pack } from '../../src/image/index.js'
import {
  layerSizes,
  openResidence,
  planResidence,
  type Residence,
  type ResidencePlan,
  type ResidentModelOptions,
  type SlotCounts,
} from '../../src/residence/index.js'
import { MemoryNamespace } from '../memory-namespace.js'
import { smallModel, type TensorSize } from '../models.js'
import { cost } from './machine.js'

/** GPU memory as bytes. */
interface VisibleMemory extends DeviceMemory {
  readonly bytes: Uint8Array
}

/** A copy engine with a gate, which reports memory that is freed during a copy, or twice. */
export class WatchedCopies implements CopyEngine {
  readonly allocated = new Set<DeviceMemory>()
  readonly problems: string[] = []
  /** Awaited by each copy. */
  gate: () => Promise<void> = () => Promise.resolve()
  count = 0
  private readonly targets = new Set<DeviceMemory>()

  alloc(lengthBytes: number): VisibleMemory {
    const memory: VisibleMemory = {
      ...{ lengthBytes, gpuPointer: 1n, bytes: new Uint8Array(lengthBytes) },
      free: () => {
        if (!this.allocated.delete(memory)) this.problems.push('GPU memory was freed twice')
        if (this.targets.has(memory)) this.problems.push('GPU memory was freed during a copy')
        memory.bytes.fill(0xee)
      },
    }
    this.allocated.add(memory)
    return memory
  }

  async copy(from: DmaMemory, fromBytes: number, to: DeviceMemory, toBytes: number, lengthBytes: number) {
    const source = new Uint8Array(from.view!.buffer, fromBytes, lengthBytes)
    const before = crc32(source)
    this.count++
    this.targets.add(to)
    try {
      await this.gate()
    } finally {
      this.targets.delete(to)
    }
    // Freed memory of `MemoryNamespace` has other content.
    if (crc32(source) !== before) this.problems.push('host memory was freed during a copy')
    else (to as VisibleMemory).bytes.set(source, toBytes)
  }
}

/** Computes checksums of memory of `WatchedCopies`. */
const onGpu: Checksummer = {
  name: 'test',
  checksum(memory, offsetBytes, lengthBytes, chunkBytes, into) {
    const { bytes } = memory as unknown as VisibleMemory
    for (let at = 0, chunk = 0; at < lengthBytes; at += chunkBytes, chunk++)
      into[chunk] = crc32(bytes.subarray(offsetBytes + at, offsetBytes + Math.min(at + chunkBytes, lengthBytes)))
    return Promise.resolve()
  },
}

/** A model of small layers on a namespace in memory. */
export async function smallRig(lengths: readonly number[] = Array.from({ length: 8 }, () => 65_536)) {
  const memory = new MemoryNamespace({ capacityBytes: 16 << 20 })
  const sizes = lengths.map((bytes, layer): TensorSize => [`model.layers.${layer}.weight`, bytes])
  await pack(await smallModel(sizes), memory.namespace)
  const image = (await openImage(memory.namespace)).model()
  const copies = new WatchedCopies()
  const open = (plan: ResidencePlan, options: ResidentModelOptions = {}) =>
    openResidence(image, plan, { copies, onGpu: { checksummer: onGpu }, ...options })
  return { memory, image, copies, open, planFor: planMaker(layerSizes(image)) }
}

/** Returns a function that makes plans with the given place of each layer, by turns. */
function planMaker(layers: ReturnType<typeof layerSizes>) {
  const budget = { vramBytes: 1 << 30, ramBytes: 1 << 30 }
  const slotBytes = Math.max(...layers.map(({ lengthBytes }) => Math.ceil(lengthBytes / 4096) * 4096))
  return (
    places: readonly Residence[],
    tier: 1 | 2 = 1,
    counts: SlotCounts = { copies: 2, drive: 2 },
  ): ResidencePlan => {
    const plan = planResidence(layers, { budget, tier, cost, costFrom: 'measured' })
    const placed = plan.layers.map((layer, index) => ({ ...layer, residence: places[index % places.length]! }))
    const has = (place: Residence) => placed.some(({ residence }) => residence === place)
    const isCopying = has('ram') || (has('nvme') && tier === 1)
    const slots = {
      ...plan.slots,
      copies: isCopying ? counts.copies : 0,
      drive: has('nvme') ? counts.drive : tier === 1 && has('vram') ? 1 : 0,
      copySlotBytes: slotBytes,
      driveSlotBytes: slotBytes,
    }
    return { ...plan, layers: placed, slots }
  }
}
