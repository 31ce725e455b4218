import { nextTurn } from '@gpunvme/nvme-spec/runtime'
import type { CopyEngine, DeviceMemory, DmaMemory } from '@gpunvme/nvme-spec/transport'
import { bytesIn } from '../store/memory-bytes.js'

/** Bytes copied before yielding to other work on this thread: less than a millisecond. */
const PIECE_BYTES = 2 * 1024 * 1024

/** Host memory in place of GPU memory. */
export interface HostCopyMemory extends DeviceMemory {
  /** 0: unknown to any GPU. */
  readonly gpuPointer: 0n
  /** The whole memory. */
  readonly view: DataView
  /** Returns a part as bytes: a view, not a copy. @throws RangeError for a range outside, or above 4 GiB on Node 20. */
  range(offsetBytes: number, lengthBytes: number): Uint8Array
}

/** Result of `hostCopies`. */
export interface HostCopyEngine extends CopyEngine {
  alloc(lengthBytes: number): HostCopyMemory
}

/**
 * Returns a copy engine without a GPU: 'GPU memory' is host memory, and this thread copies. For programs that compute
 * on the CPU with a budget of fast memory, and for trials without a GPU. For plans of tier 1: in tier 2, drives write to
 * the memory that is used (`withoutGpu` of `openResidence`).
 */
export function hostCopies(): HostCopyEngine {
  const held = new WeakSet<DeviceMemory>()
  const isHeld = (memory: DeviceMemory): memory is HostCopyMemory => held.has(memory)
  let last: Promise<unknown> = Promise.resolve()
  return {
    alloc(lengthBytes) {
      const view = new DataView(new ArrayBuffer(lengthBytes))
      const memory: HostCopyMemory = { ...hostCopyOf(view), free: () => void held.delete(memory) }
      held.add(memory)
      return memory
    },
    copy(from, fromBytes, to, toBytes, lengthBytes) {
      if (!isHeld(to)) throw new TypeError('to: expected memory of this copy engine, got other memory')
      if (fromBytes + lengthBytes > visible(from).byteLength || toBytes + lengthBytes > to.lengthBytes)
        throw new RangeError(`copy: expected bytes inside both memories, got ${lengthBytes}`)
      from.forHost(fromBytes, lengthBytes)
      // Sequentially, as a copy engine does.
      const copy = last.then(() => inPieces(from, fromBytes, to, toBytes, lengthBytes))
      last = copy.catch(() => undefined)
      return copy
    },
  }
}

/** Returns memory that a controller has written, in place of GPU memory. */
export function asHostCopy(memory: DmaMemory): HostCopyMemory {
  memory.forHost(0, memory.lengthBytes)
  return { ...hostCopyOf(visible(memory)), free: () => memory.free() }
}

function hostCopyOf(view: DataView): Omit<HostCopyMemory, 'free'> {
  const range = (offsetBytes: number, lengthBytes: number) => bytesIn({ view }, offsetBytes, lengthBytes)
  return { lengthBytes: view.byteLength, view, gpuPointer: 0n, range }
}

async function inPieces(
  from: Pick<DmaMemory, 'view'>,
  fromBytes: number,
  to: HostCopyMemory,
  toBytes: number,
  lengthBytes: number,
): Promise<void> {
  for (let at = 0; at < lengthBytes; at += PIECE_BYTES) {
    if (at > 0) await nextTurn()
    const bytes = Math.min(PIECE_BYTES, lengthBytes - at)
    to.range(toBytes + at, bytes).set(bytesIn(from, fromBytes + at, bytes))
  }
}

function visible({ view }: DmaMemory): DataView {
  if (view === undefined) throw new TypeError('from: expected host memory, got memory without a view')
  return view
}
