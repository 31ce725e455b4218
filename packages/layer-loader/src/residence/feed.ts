import type { DeviceMemory } from '@gpunvme/nvme-spec/transport'
import type { Copier } from './copier.js'
import { Lane } from './lane.js'
import type { LinkTimesCounter } from './link-times.js'
import type { ResidencePlan } from './plan.js'
import type { PlacedLayer } from './predict.js'
import type { RateWatch } from './rate-watch.js'
import type { OnGpu } from './resident-lease.js'
import { gpuMemoryOf, type Residents } from './residents.js'
import type { LayerSource, LoadedLayer, SlotReader } from './source.js'

/** What a feed works with. */
export interface FeedParts {
  readonly plan: ResidencePlan
  readonly source: LayerSource
  readonly residents: Residents
  readonly copier: Copier | undefined
  readonly times: LinkTimesCounter
  readonly watch: RateWatch
  readonly signal: AbortSignal
}

/**
 * Brings layers to the GPU ahead of their use, over two lanes that run side by side: copies from host memory, and reads
 * of the drive. In tier 1 a read is a copy's first half, so that all of them are in the lane of copies.
 */
export class Feed {
  private readonly parts: FeedParts
  private readonly reader: SlotReader | undefined
  private readonly copySlots: DeviceMemory[] = []
  private readonly copies: Lane<OnGpu>
  private readonly reads: Lane<OnGpu>

  /** @throws what allocating throws; then nothing stays allocated */
  constructor(parts: FeedParts) {
    this.parts = parts
    const { plan, source, copier } = parts
    const { slots, tier } = plan
    const isReading = plan.layers.some(({ residence }) => residence === 'nvme')
    try {
      for (let slot = 0; slot < slots.copies; slot++) this.copySlots.push(copier!.engine.alloc(slots.copySlotBytes))
    } catch (error) {
      for (const memory of this.copySlots) memory.free()
      throw error
    }
    if (isReading) {
      const where = tier === 1 ? 'host' : 'gpu'
      this.reader = source.open({ slots: slots.drive, slotBytes: slots.driveSlotBytes, where })
    }
    const drop = (layer: OnGpu) => layer.release()
    this.copies = new Lane(slots.copies, { load: (layer) => this.copyIn(layer), drop })
    this.reads = new Lane(slots.drive, { load: (layer) => this.readIn(layer), drop })
  }

  /** What will be taken from now on, in its order. */
  expect(layers: readonly PlacedLayer[]): void {
    for (const lane of [this.copies, this.reads]) {
      lane.expect(layers.filter((layer) => this.laneOf(layer) === lane).map(({ name }) => name))
    }
  }

  /** Nothing comes for this layer until one that was taken is released. */
  isHeld(layer: PlacedLayer): boolean {
    return this.laneOf(layer)?.isHeld ?? false
  }

  /** The layer, which is the next of its lane, on the GPU. @throws what bringing it threw; the signal's reason */
  async take(layer: PlacedLayer, signal: AbortSignal): Promise<OnGpu> {
    const lane = this.laneOf(layer)
    if (lane === undefined) return this.parts.residents.gpu(layer.name)
    const brought = await lane.take(signal)
    return {
      ...brought,
      release() {
        brought.release()
        lane.free()
      },
    }
  }

  /** Waits for what is under way, and frees the slots: nothing that was taken may be in use. */
  async close(): Promise<void> {
    await Promise.all([this.copies.close(), this.reads.close()])
    await this.reader?.close()
    for (const memory of this.copySlots.splice(0)) memory.free()
  }

  private laneOf({ residence }: PlacedLayer): Lane<OnGpu> | undefined {
    if (residence === 'vram') return undefined
    return residence === 'nvme' && this.parts.plan.tier === 2 ? this.reads : this.copies
  }

  /** A lane has as many places as there are slots: one is free. */
  private async copyIn(name: string): Promise<OnGpu> {
    const { residents, copier, signal } = this.parts
    const memory = this.copySlots.pop()!
    const giveBack = () => void this.copySlots.push(memory)
    const isInHost = residents.isInHost(name)
    try {
      const from = isInHost ? residents.host(name) : await this.read(name)
      const { lengthBytes, tensors, verified, read } = from
      try {
        await copier!.copy(from, memory, signal)
      } finally {
        if (!isInHost) from.release()
      }
      const layer = { memory, lengthBytes, tensors, verified, verifiedOnGpu: copier!.checks, release: giveBack }
      return isInHost ? layer : { ...layer, readEndNs: read.endNs }
    } catch (error) {
      giveBack()
      throw error
    }
  }

  /** The lane of tier 2: what the drive writes is on the GPU already. */
  private async readIn(name: string): Promise<OnGpu> {
    const loaded = await this.read(name)
    const { lengthBytes, tensors, verified, read } = loaded
    const release = () => loaded.release()
    const memory = gpuMemoryOf(loaded)
    return { memory, lengthBytes, tensors, verified, verifiedOnGpu: verified, release, readEndNs: read.endNs }
  }

  private async read(name: string): Promise<LoadedLayer> {
    const { times, watch, signal } = this.parts
    const loaded = await this.reader!.load(name, signal)
    times.add('drive', loaded.read)
    watch.add(loaded.read.bytes, loaded.read.endNs - loaded.read.startNs)
    return loaded
  }
}
