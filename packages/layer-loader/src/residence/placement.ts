import type { CopyEngine, DeviceMemory, TraceEvent, TraceSink } from '@gpunvme/nvme-spec/transport'
import type { LoadableModel } from '../load/extent.js'
import type { Lease, LoadReport } from '../load/lease.js'
import { Loader } from '../load/loader.js'
import type { LoadPlan } from '../load/load-plan.js'
import { loadPlanFor, type LoaderOptions } from '../load/options.js'
import type { Ticket } from '../load/ticket.js'
import { checkCopy } from './copy-check.js'
import { copiesOf, deviceMemoryOf } from './copy-store.js'
import type { LayerReadOptions } from './layer-sizes.js'
import type { LinkTimesCounter } from './link-times.js'
import type { ResidencePlan } from './plan.js'
import type { PlacedLayer } from './predict.js'
import { allSlotsHeld } from '../stream/layer-stream.js'
import { RequestQueue } from './request-queue.js'

/** How layers are read and copied. */
export interface PlacementOptions extends LayerReadOptions {
  /** Copies to the GPU; not needed for a plan of tier 2 without layers in host memory. */
  readonly copies?: CopyEngine
  /**
   * There is no GPU: the drive writes the layers of a plan of tier 2 to host memory, where they are used, as
   * `HostCopyMemory`. Default: false.
   */
  readonly withoutGpu?: boolean
}

/** Observers of a placement. */
export interface PlacementEvents {
  readonly times: LinkTimesCounter
  /** Called for each layer that is read for a pass, with the time in which the drive was busy with it. */
  readonly onRead: (bytes: number, ns: number) => void
  /** Called after each resident layer is loaded. */
  readonly onLoaded: (layer: PlacedLayer) => void
}

/** A layer that stays in memory. */
interface Resident {
  readonly lease: Lease
}

/** How a layer was checked. */
interface Checked {
  /** Whether every byte was checked when it was read from the drive. `verifiedOnGpu`: in GPU memory. */
  readonly verified: boolean
  readonly verifiedOnGpu: boolean
  /** End of its last read from the drive, by the store's clock. */
  readonly readEndNs: number
}

/** A layer on the GPU. */
export interface OnGpu extends Checked, Resident {
  readonly memory: DeviceMemory
  /** Whether it stays there: then its lease is not released after use. */
  readonly stays: boolean
}

/** Loaders whose slots are filled again and again during passes. */
interface Lanes {
  /** Tier 1: reads to host memory, to be copied from there. */
  readonly staging: ModelLoader | undefined
  /** Copies to the GPU. */
  readonly copies: RequestQueue | undefined
  /** Tier 2: reads directly to the GPU. */
  readonly reads: RequestQueue | undefined
}

const NO_LANES: Lanes = { staging: undefined, copies: undefined, reads: undefined }

/** A loader of a model, or of its layers in host memory. */
type ModelLoader = Loader<LoadableModel>

/** Memory of a loader. */
type Memory = Pick<LoaderOptions, 'slots' | 'slotBytes' | 'memoryBytes'>

/**
 * Brings the layers of a plan to the GPU with loaders. Resident layers are leases that are kept; the others pass
 * through the slots of two lanes, one for copies from host memory and one for reads of the drive. In tier 1, a read is
 * the first half of a copy, so all layers are in the lane of copies.
 */
export class Placement {
  private readonly model: LoadableModel
  private readonly options: PlacementOptions
  private readonly events: PlacementEvents
  private readonly signal: AbortSignal
  private readonly plans = new Map<string, LoadPlan>()
  private readonly inHost = new Map<string, Resident>()
  private readonly onGpu = new Map<string, OnGpu>()
  /** What is known of layers that were read to host memory. */
  private readonly sources = new Map<string, Pick<Checked, 'verified' | 'readEndNs'>>()
  /** Loaders of layers that stay: in host memory, on the GPU by copies, and on the GPU by reads. */
  private readonly keepers: { readonly host: ModelLoader; readonly copied?: ModelLoader; readonly direct: ModelLoader }
  private lanes = NO_LANES
  private tier: 1 | 2 = 1

  constructor(model: LoadableModel, options: PlacementOptions, events: PlacementEvents, signal: AbortSignal) {
    this.model = model
    this.options = { ...options, trace: (event) => this.traced(event, options.trace) }
    this.events = events
    this.signal = signal
    const memory = { memoryBytes: Infinity }
    this.keepers = {
      host: this.toHost(memory),
      direct: this.toGpu(memory),
      ...(options.copies && { copied: this.byCopies(options.copies, memory) }),
    }
  }

  /**
   * Frees layers that no longer stay where they are, allocates the slots of a plan, and loads the layers that stay.
   * @throws the first failure, after all work in flight; layers loaded by then stay
   */
  async apply(plan: ResidencePlan): Promise<void> {
    await this.closeLanes()
    this.tier = plan.tier
    for (const { name, residence } of plan.layers) {
      if (residence !== 'ram') this.release(this.inHost, name)
      if (residence !== 'vram') this.release(this.onGpu, name)
    }
    this.lanes = this.openLanes(plan)
    const { staging, copies, reads } = this.lanes
    for (const loader of [staging, copies?.loader, reads?.loader]) loader?.allocate()
    await this.keep(plan)
    // Nothing more passes through these slots.
    if (plan.layers.every(({ residence }) => residence !== 'nvme')) await staging?.close()
  }

  /** Sets the layers that will be taken, in order. */
  expect(layers: readonly PlacedLayer[]): void {
    for (const lane of [this.lanes.copies, this.lanes.reads]) {
      lane?.expect(layers.filter((layer) => this.laneOf(layer) === lane).map(({ name }) => name))
    }
  }

  /** @throws LoaderError (ALL_SLOTS_HELD) if the layer's lane waits for the release of a taken layer */
  refuseHeld(layer: PlacedLayer): void {
    const lane = this.laneOf(layer)
    if (lane?.isHeld === true) throw allSlotsHeld(lane.loader.slots)
  }

  /** Returns the layer, the next of its lane, on the GPU. @throws errors of loading it; the signal's reason */
  async take(layer: PlacedLayer, signal: AbortSignal): Promise<OnGpu> {
    const lane = this.laneOf(layer)
    if (lane === undefined) return this.onGpu.get(layer.name)!
    return this.located(await lane.take(signal), lane === this.lanes.copies, false)
  }

  /** Frees the slots of the lanes, after work in flight. */
  async closeLanes(): Promise<void> {
    const { staging, copies, reads } = this.lanes
    this.lanes = NO_LANES
    // Copies that wait for a read end with it; those in progress read the memory of staging slots until they end.
    await Promise.all([staging?.end(), copies?.loader.close(), reads?.loader.close()])
    await staging?.close()
  }

  /** Frees all memory, after work in flight. */
  async close(): Promise<void> {
    await this.closeLanes()
    const { host, direct, copied } = this.keepers
    await copied?.close()
    await Promise.all([host.close(), direct.close()])
  }

  private openLanes({ tier, slots }: ResidencePlan): Lanes {
    const reads = slots.drive > 0 ? { slots: slots.drive, slotBytes: slots.driveSlotBytes } : undefined
    const copies = { slots: slots.copies, slotBytes: slots.copySlotBytes }
    return {
      staging: tier === 1 && reads ? this.toHost(reads) : undefined,
      copies: slots.copies > 0 ? new RequestQueue(this.byCopies(this.options.copies!, copies)) : undefined,
      reads: tier === 2 && reads ? new RequestQueue(this.toGpu(reads), (report) => this.wasRead(report)) : undefined,
    }
  }

  private laneOf({ residence }: PlacedLayer): RequestQueue | undefined {
    if (residence === 'vram') return undefined
    return residence === 'nvme' && this.tier === 2 ? this.lanes.reads : this.lanes.copies
  }

  /** Loads the layers that stay and are not there yet. */
  private async keep({ layers, tier }: ResidencePlan): Promise<void> {
    const { host, direct, copied } = this.keepers
    const coming: { readonly layer: PlacedLayer; readonly ticket: Ticket }[] = []
    try {
      for (const layer of layers) {
        const { name, residence } = layer
        if (residence === 'nvme' || this.inHost.has(name) || this.onGpu.has(name)) continue
        const keeper = residence === 'ram' ? host : tier === 1 ? copied! : direct
        coming.push({ layer, ticket: keeper.request(keeper.model.layer(name)) })
      }
      for (const { layer, ticket } of coming) {
        const isCopied = layer.residence === 'vram' && tier === 1
        const lease = await ticket.lease()
        if (layer.residence === 'ram') {
          this.addSource(lease)
          this.inHost.set(layer.name, { lease })
        } else this.onGpu.set(layer.name, this.located(lease, isCopied, true))
        this.events.onLoaded(layer)
      }
    } catch (error) {
      for (const { ticket } of coming) ticket.cancel()
      await Promise.all([this.lanes.staging?.end(), host.settled(), direct.settled(), copied?.settled()])
      throw error
    }
  }

  private release(from: Map<string, Resident>, name: string): void {
    from.get(name)?.lease.release()
    from.delete(name)
  }

  /** Returns what is known of a layer on the GPU. @throws TypeError for host memory, which is then released */
  private located(lease: Lease, isCopied: boolean, stays: boolean): OnGpu {
    const { onGpu, withoutGpu = false } = this.options
    const read = { verified: lease.verified, readEndNs: lease.statistics.endNs }
    // A layer without bytes is not copied, so it has no source.
    const { verified, readEndNs } = (isCopied && this.sources.get(lease.name)) || read
    const verifiedOnGpu = isCopied ? onGpu?.checksummer !== undefined : verified
    try {
      const memory = deviceMemoryOf(lease, withoutGpu)
      return { lease, memory, stays, verified, verifiedOnGpu, readEndNs }
    } catch (error) {
      lease.release()
      throw error
    }
  }

  private toHost(memory: Memory): ModelLoader {
    return new Loader(this.model, { ...this.options, signal: this.signal, ...memory })
  }

  private toGpu(memory: Memory): ModelLoader {
    const { onGpu, withoutGpu } = this.options
    return new Loader(this.model, {
      ...this.options,
      signal: this.signal,
      ...(withoutGpu !== true && { ...onGpu, where: 'gpu' as const }),
      ...memory,
    })
  }

  /** Returns a loader of layers in host memory. A layer that does not stay there is read to a staging slot first. */
  private byCopies(copies: CopyEngine, memory: Memory): ModelLoader {
    const model = copiesOf(this.model, copies, {
      plan: (layer) => this.planOf(layer),
      load: async (layer) => {
        const resident = this.inHost.get(layer)
        if (resident !== undefined) return resident.lease
        const lease = await this.lanes.staging!.request(this.model.layer(layer)).lease()
        this.wasRead(lease)
        this.addSource(lease)
        return lease
      },
      copied: async (lease, copy, times) => {
        this.events.times.add('copy', times)
        await this.check(lease, copy)
      },
      release: (lease) => {
        if (this.inHost.get(lease.name)?.lease !== lease) lease.release()
      },
    })
    // Copies are checked by `copied`, and have the alignment of their source.
    return new Loader(model, { ...memory, verify: 'off', alignBytes: 1, signal: this.signal })
  }

  private addSource({ name, verified, statistics }: Lease): void {
    this.sources.set(name, { verified, readEndNs: statistics.endNs })
  }

  private async check(lease: Lease, copy: DeviceMemory): Promise<void> {
    const { checksummer, onGpu } = this.options
    if (onGpu?.checksummer === undefined) return
    const source = { model: this.model.name, lease, plan: this.planOf(lease.name), checksummer }
    await checkCopy(copy, source, onGpu.checksummer, this.signal)
  }

  private planOf(layer: string): LoadPlan {
    let plan = this.plans.get(layer)
    if (plan === undefined) {
      plan = loadPlanFor(this.model.store, this.model.layer(layer), this.options)
      this.plans.set(layer, plan)
    }
    return plan
  }

  private wasRead({ statistics: { bytes, readNs } }: LoadReport): void {
    this.events.onRead(bytes, readNs)
  }

  /** Adds the time of each read: those of several layers are interleaved. */
  private traced(event: TraceEvent, trace: TraceSink | undefined): void {
    const { track, timeNs, durationNs = 0 } = event
    if (track === 'read') this.events.times.add('drive', { startNs: timeNs, endNs: timeNs + durationNs })
    trace?.(event)
  }
}
