import type { DeviceMemory, DmaMemory } from '@gpunvme/nvme-spec/transport'
import type { Copier } from './copier.js'
import { memoryBytesOf } from './lay-out.js'
import type { LinkTimesCounter } from './link-times.js'
import type { ResidencePlan } from './plan.js'
import type { PlacedLayer } from './predict.js'
import type { OnGpu } from './resident-lease.js'
import type { LayerSource, LoadedLayer, SlotReader } from './source.js'
import type { Residence } from './spread.js'

/** Concurrent reads of resident layers: one is checked while the next is read. */
const DIRECT_READS = 2

/** The layers that stay in memory between passes. They are read and checked once. */
export class Residents {
  private readonly source: LayerSource
  private readonly copier: Copier | undefined
  private readonly times: LinkTimesCounter
  private readonly onGpu = new Map<string, OnGpu>()
  private readonly inHost = new Map<string, LoadedLayer>()
  /** Functions that free a layer's memory. */
  private readonly owners = new Map<string, () => Promise<void>>()

  /** @param times counts reads and copies of loaded layers */
  constructor(source: LayerSource, copier: Copier | undefined, times: LinkTimesCounter) {
    this.source = source
    this.copier = copier
    this.times = times
  }

  /** Returns a layer that stays on the GPU. */
  gpu(name: string): OnGpu {
    return this.onGpu.get(name)!
  }

  isInHost(name: string): boolean {
    return this.inHost.has(name)
  }

  /** Returns a layer that stays in host memory. */
  host(name: string): LoadedLayer {
    return this.inHost.get(name)!
  }

  /**
   * Loads the missing resident layers of the plan, and frees those that are no longer resident.
   * @param onLoaded called for each loaded layer
   * @throws errors of reading and copying, the signal's reason; layers loaded by then stay
   */
  async adopt(plan: ResidencePlan, signal: AbortSignal, onLoaded: (layer: PlacedLayer) => void): Promise<void> {
    const isInPlace = ({ name, residence }: PlacedLayer) => this.placeOf(name) === residence
    for (const layer of plan.layers) if (!isInPlace(layer)) await this.letGo(layer.name)
    const missing = plan.layers.filter((layer) => !isInPlace(layer))
    const staged = missing.filter(({ residence }) => residence === 'vram' && plan.tier === 1)
    // Slots for copies to the GPU are freed before host memory is filled.
    if (staged.length > 0) await this.copyIn(staged, plan, signal, onLoaded)
    const direct = missing.filter((layer) => !staged.includes(layer))
    await this.loadInParallel(direct, DIRECT_READS, signal, onLoaded, (layer, either) => this.readIn(layer, either))
  }

  async close(): Promise<void> {
    for (const name of [...this.owners.keys()]) await this.letGo(name)
  }

  private placeOf(name: string): Residence {
    return this.onGpu.has(name) ? 'vram' : this.inHost.has(name) ? 'ram' : 'nvme'
  }

  /** Frees a layer whose loading failed. */
  private async orLetGo(layer: PlacedLayer, bringing: Promise<void>): Promise<void> {
    try {
      await bringing
    } catch (error) {
      await this.letGo(layer.name)
      throw error
    }
  }

  private async letGo(name: string): Promise<void> {
    const owner = this.owners.get(name)
    this.owners.delete(name)
    this.onGpu.delete(name)
    this.inHost.delete(name)
    await owner?.()
  }

  /** Tier 1: through slots in host memory; one layer is copied while the next is read. */
  private async copyIn(
    layers: readonly PlacedLayer[],
    { slots }: ResidencePlan,
    signal: AbortSignal,
    onLoaded: (layer: PlacedLayer) => void,
  ): Promise<void> {
    const reader = this.source.open({ slots: slots.drive, slotBytes: slots.driveSlotBytes, where: 'host' })
    try {
      const copyOne = (layer: PlacedLayer, either: AbortSignal) => this.copyOne(layer, reader, either)
      await this.loadInParallel(layers, slots.drive, signal, onLoaded, copyOne)
    } finally {
      await reader.close()
    }
  }

  /** Loads layers in order, `lanes` at a time. Waits for all loads before it returns or throws. @throws the first failure */
  private async loadInParallel(
    layers: readonly PlacedLayer[],
    lanes: number,
    signal: AbortSignal,
    onLoaded: (layer: PlacedLayer) => void,
    bring: (layer: PlacedLayer, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const failed = new AbortController()
    const either = AbortSignal.any([signal, failed.signal])
    const waiting = [...layers]
    const lane = async () => {
      for (let layer = waiting.shift(); layer !== undefined; layer = waiting.shift()) {
        either.throwIfAborted()
        await this.orLetGo(layer, bring(layer, either))
        onLoaded(layer)
      }
    }
    await Promise.all(Array.from({ length: lanes }, () => lane().catch((error: unknown) => failed.abort(error))))
    failed.signal.throwIfAborted()
  }

  private async copyOne(layer: PlacedLayer, reader: SlotReader, signal: AbortSignal): Promise<void> {
    const loaded = await this.read(layer, reader, signal)
    const { lengthBytes, tensors, verified } = loaded
    try {
      const memory = this.copier!.engine.alloc(memoryBytesOf(layer))
      this.owners.set(layer.name, () => {
        memory.free()
        return Promise.resolve()
      })
      await this.copier!.copy(loaded, memory, signal)
      const verifiedOnGpu = this.copier!.checks
      this.onGpu.set(layer.name, { memory, lengthBytes, tensors, verified, verifiedOnGpu, release: () => undefined })
    } finally {
      loaded.release()
    }
  }

  /** Reads directly to its place: a slot of its own, which is never returned. */
  private async readIn(layer: PlacedLayer, signal: AbortSignal): Promise<void> {
    const where = layer.residence === 'vram' ? 'gpu' : 'host'
    const reader = this.source.open({ slots: 1, slotBytes: memoryBytesOf(layer), where })
    this.owners.set(layer.name, () => reader.close())
    const loaded = await this.read(layer, reader, signal)
    if (where === 'host') this.inHost.set(layer.name, loaded)
    else {
      const memory = gpuMemoryOf(loaded)
      this.onGpu.set(layer.name, { ...loaded, memory, verifiedOnGpu: loaded.verified, release: () => undefined })
    }
  }

  private async read({ name }: PlacedLayer, reader: SlotReader, signal: AbortSignal): Promise<LoadedLayer> {
    const loaded = await reader.load(name, signal)
    this.times.add('drive', loaded.read)
    return loaded
  }
}

/** @throws TypeError if the controller wrote to memory that is not on a GPU */
export function gpuMemoryOf({ memory }: LoadedLayer): DeviceMemory {
  if (isOnGpu(memory)) return memory
  throw new TypeError('tier 2: expected memory with a gpuPointer, got host memory')
}

function isOnGpu(memory: DmaMemory): memory is DmaMemory & DeviceMemory {
  return memory.gpuPointer !== undefined
}
