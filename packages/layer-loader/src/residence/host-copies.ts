import { nextTurn } from '@gpunvme/nvme-spec/runtime'
import type { CopyEngine, DeviceMemory, DmaMemory } from '@gpunvme/nvme-spec/transport'
import type { LayerSource } from './source.js'

/** Bytes copied before yielding to other work on this thread: less than a millisecond. */
const PIECE_BYTES = 2 * 1024 * 1024

/** Host memory in place of GPU memory. */
export interface HostCopyMemory extends DeviceMemory {
  /** The whole memory. */
  readonly bytes: Uint8Array
  /** 0: unknown to any GPU. */
  readonly gpuPointer: 0n
  /** The same bytes, for checksummers of host memory. */
  readonly view: DataView
}

/** Result of `hostCopies`. */
export interface HostCopyEngine extends CopyEngine {
  alloc(lengthBytes: number): HostCopyMemory
}

/**
 * Returns a copy engine without a GPU: 'GPU memory' is host memory, and this thread copies. For programs that compute
 * on the CPU with a budget of fast memory, and for trials without a GPU. Only for tier 1: direct writes of a drive to a
 * GPU have no substitute.
 */
export function hostCopies(): HostCopyEngine {
  const held = new WeakMap<DeviceMemory, Uint8Array>()
  let last: Promise<unknown> = Promise.resolve()
  return {
    alloc(lengthBytes) {
      const bytes = new Uint8Array(lengthBytes)
      const view = new DataView(bytes.buffer)
      const memory = { lengthBytes, bytes, view, gpuPointer: 0n, free: () => void held.delete(memory) } as const
      held.set(memory, bytes)
      return memory
    },
    copy(from, fromBytes, to, toBytes, lengthBytes) {
      const into = held.get(to)
      if (into === undefined) throw new TypeError('to: expected memory of this copy engine, got other memory')
      const bytes = visible(from).subarray(fromBytes, fromBytes + lengthBytes)
      if (bytes.length !== lengthBytes || toBytes + lengthBytes > into.length)
        throw new RangeError(`copy: expected bytes inside both memories, got ${lengthBytes}`)
      from.forHost(fromBytes, lengthBytes)
      // Sequentially, as a copy engine does.
      const copy = last.then(() => inPieces(bytes, into, toBytes))
      last = copy
      return copy
    },
  }
}

/**
 * Returns layers for a plan of tier 2 without a GPU: the controller writes them to host memory, where they are used.
 * Nothing is copied; the plan's GPU memory is host memory.
 */
export function hostLayers(source: LayerSource): LayerSource {
  return {
    clock: source.clock,
    open(room) {
      const reader = source.open({ ...room, where: 'host' })
      return {
        async load(layer, signal) {
          const loaded = await reader.load(layer, signal)
          loaded.memory.forHost(0, loaded.lengthBytes)
          return { ...loaded, memory: asHostCopy(loaded.memory) }
        },
        close: () => reader.close(),
      }
    },
  }
}

function asHostCopy(memory: DmaMemory): DmaMemory & HostCopyMemory {
  const bytes = visible(memory)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const { lengthBytes, segments } = memory
  return {
    ...{ lengthBytes, segments, bytes, view, gpuPointer: 0n },
    iovaAt: (offsetBytes) => memory.iovaAt(offsetBytes),
    forDevice: (...range) => memory.forDevice(...range),
    forHost: (...range) => memory.forHost(...range),
    free: () => memory.free(),
  }
}

async function inPieces(from: Uint8Array, to: Uint8Array, toBytes: number): Promise<void> {
  for (let at = 0; at < from.length; at += PIECE_BYTES) {
    if (at > 0) await nextTurn()
    to.set(from.subarray(at, at + PIECE_BYTES), toBytes + at)
  }
}

function visible({ view }: DmaMemory): Uint8Array {
  if (view === undefined) throw new TypeError('from: expected host memory, got memory without a view')
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
}
