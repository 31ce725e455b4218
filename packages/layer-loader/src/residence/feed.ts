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

/** Dependencies of a feed. */
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
 * Brings layers to the GPU before their use, in two parallel lanes: copies from host memory, and reads of the drive. In
 * tier 1, a read is the first half of a copy, so all layers are in the lane of copies.
 */
export class Feed {
  private readonly parts: FeedParts
  private readonly reader: SlotReader | undefined
  private readonly copySlots: DeviceMemory[] = []
  private readonly copies: Lane<OnGpu>
  private readonly reads: Lane<OnGpu>

  /** @throws errors of allocation; then nothing stays allocated */
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

  /** Sets the layers that will be taken, in order. */
  expect(layers: readonly PlacedLayer[]): void {
    for (const lane of [this.copies, this.reads]) {
      lane.expect(layers.filter((layer) => this.laneOf(layer) === lane).map(({ name }) => name))
    }
  }

  /** Returns whether the layer's lane waits for the release of a taken layer. */
  isHeld(layer: PlacedLayer): boolean {
    return this.laneOf(layer)?.isHeld ?? false
  }

  /** Returns the layer, the next of its lane, on the GPU. @throws errors of loading it; the signal's reason */
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

  /** Waits for work in flight, and frees the slots. No taken layer may be in use. */
  async close(): Promise<void> {
    await Promise.all([this.copies.close(), this.reads.close()])
    await this.reader?.close()
    for (const memory of this.copySlots.splice(0)) memory.free()
  }

  private laneOf({ residence }: PlacedLayer): Lane<OnGpu> | undefined {
    if (residence === 'vram') return undefined
    return residence === 'nvme' && this.parts.plan.tier === 2 ? this.reads : this.copies
  }

  /** A lane has as many places as slots, so one is free. */
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

  /** The lane of tier 2: the drive writes directly to the GPU. */
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
