import type { Clock, CopyEngine, DeviceMemory, DmaAllocator, DmaMemory } from '@gpunvme/nvme-spec/transport'
import { asHostCopy } from './host-copies.js'
import type { LoadableModel, StoredExtent } from '../load/extent.js'
import type { Lease } from '../load/lease.js'
import type { LoadPlan } from '../load/load-plan.js'
import type { BlockStore, StoreSummary, StoreTransfer } from '../store/store.js'

/** Distance of layers in the address space of the store. No layer is as long, so none is copied in parts. */
const STRIDE_BYTES = 2 ** 40

/** No copy waits for others: the copy engine executes them in order. */
const UNLIMITED_BYTES = 2 ** 52

/** The layers in host memory that are copied. */
export interface CopySource {
  /** Returns the memory and reads of a layer in host memory. */
  plan(layer: string): LoadPlan
  /** Returns a layer in host memory as soon as it is there. */
  load(layer: string): Promise<Lease>
  /** Called after each copy. @throws if the copy is wrong */
  copied(source: Lease, copy: DeviceMemory, times: { startNs: number; endNs: number }): Promise<void>
  /** Called when a layer is no longer needed in host memory. */
  release(source: Lease): void
}

/** Returns the layers of a model in host memory as a model, for a loader that copies them to the GPU. */
export function copiesOf(
  { name, layers, store }: LoadableModel,
  copies: CopyEngine,
  source: CopySource,
): LoadableModel {
  const layer = (wanted: string | number): StoredExtent => {
    const index = layers.indexOf(String(wanted))
    const { pieces, memoryBytes } = source.plan(layers[index]!)
    const startBytes = index * STRIDE_BYTES
    return {
      name: layers[index]!,
      pieces: pieces.map(({ offsetBytes, lengthBytes, ...piece }) => {
        return { ...piece, lengthBytes, runs: [{ storeBytes: startBytes + offsetBytes, lengthBytes }] }
      }),
      fullRange: { storeBytes: startBytes, lengthBytes: memoryBytes },
      // The source checks copies.
      checks: [],
    }
  }
  return { name, store: new CopyStore(layers, copies, store.clock, source), layers, hasChecksums: false, layer }
}

/**
 * Layers in host memory as a store: a read of it is a copy to the GPU. So a loader places copies in slots, keeps their
 * order and cancels them, as it does for reads of a drive. A layer that is not in host memory is brought there first.
 */
class CopyStore implements BlockStore {
  readonly name = 'host memory'
  readonly blockBytes = 1
  readonly capacityBytes: number
  readonly saturationBytes = UNLIMITED_BYTES
  readonly optimalReadBytes = STRIDE_BYTES
  readonly movesData = undefined
  readonly dma: DmaAllocator
  readonly clock: Clock
  private readonly layers: readonly string[]
  private readonly engine: CopyEngine
  private readonly source: CopySource
  private lastEndNs = -Infinity

  constructor(layers: readonly string[], engine: CopyEngine, clock: Clock, source: CopySource) {
    this.layers = layers
    this.engine = engine
    this.clock = clock
    this.source = source
    this.capacityBytes = layers.length * STRIDE_BYTES
    this.dma = { alloc: (lengthBytes) => new CopyMemory(engine.alloc(lengthBytes)) }
  }

  /** @param transfers a whole layer. */
  async read(transfers: readonly StoreTransfer[], memory: DmaMemory): Promise<StoreSummary> {
    const { clock, source } = this
    const [{ offsetBytes, lengthBytes: bytes }] = transfers as readonly [StoreTransfer]
    const layer = this.layers[offsetBytes / STRIDE_BYTES]!
    if (!(memory instanceof CopyMemory))
      throw new TypeError('memory: expected memory of the copy engine, got other memory')
    const copy = memory.device
    const lease = await source.load(layer)
    try {
      const askedNs = clock.now()
      await this.engine.copy(lease.memory, 0, copy, 0, bytes)
      const endNs = clock.now()
      const startNs = Math.min(endNs, Math.max(askedNs, this.lastEndNs))
      this.lastEndNs = endNs
      await source.copied(lease, copy, { startNs, endNs })
      return { bytes, commands: 1, startNs, endNs }
    } finally {
      source.release(lease)
    }
  }

  locate(offsetBytes: number): string {
    return `host memory of ${this.layers[Math.floor(offsetBytes / STRIDE_BYTES)]}`
  }
}

/**
 * Returns the GPU memory of a lease.
 * @param withoutGpu host memory takes its place
 * @throws TypeError for host memory in place of memory on a GPU
 */
export function deviceMemoryOf({ memory }: Lease, withoutGpu: boolean): DeviceMemory {
  if (memory instanceof CopyMemory) return memory.device
  if (withoutGpu) return asHostCopy(memory)
  if (isOnGpu(memory)) return memory
  throw new TypeError('tier 2: expected GPU memory, got host memory; without a GPU, pass { withoutGpu: true }')
}

function isOnGpu(memory: DmaMemory): memory is DmaMemory & DeviceMemory {
  return memory.gpuPointer !== undefined
}

/** GPU memory of a copy engine, as a slot. No controller writes to it. */
class CopyMemory implements DmaMemory {
  readonly device: DeviceMemory
  readonly segments = []

  constructor(device: DeviceMemory) {
    this.device = device
  }

  get lengthBytes() {
    return this.device.lengthBytes
  }

  get gpuPointer() {
    return this.device.gpuPointer
  }

  iovaAt(): number {
    throw new TypeError('GPU memory of a copy engine: no controller can reach it')
  }

  forDevice(): void {}

  forHost(): void {}

  free(): void {
    this.device.free()
  }
}
