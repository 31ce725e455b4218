import { cidSlotBits, runsOf } from '@gpunvme/nvme-spec/engine'
import type { BarWindow, CompletionQueueMemory, DmaMemory, QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import type {
  EngineAddon,
  EngineHandle,
  LeaderLayout,
  LeaderPositions,
  NativeMemory,
  PairLayout,
} from './engine-addon.js'

/** What turns queues into what native code takes. */
export interface LayoutContext {
  readonly addon: EngineAddon
  readonly engine: EngineHandle
  readonly window: BarWindow
  /** Whether leaders can use memory by its `gpuPointer`. */
  readonly takesGpuPointers: boolean
}

/** The queues of one leader: those that share a completion queue. */
type Group = readonly [cq: CompletionQueueMemory, pairs: readonly QueuePairMemory[]]

/** Queues by their completion queues, in the order of their first. */
export function groupsOf(queues: readonly QueuePairMemory[]): Group[] {
  const cqs = [...new Set(queues.map(({ cq }) => cq))]
  return cqs.map((cq) => [cq, queues.filter((queue) => queue.cq === cq)])
}

/**
 * For each queue, its index among those of all groups: the order in which native code counts them.
 * Plans name queues by the order in which they were attached.
 */
export function nativeIndexes(queues: readonly QueuePairMemory[]): Uint16Array {
  const order = groupsOf(queues).flatMap(([, pairs]) => pairs)
  return Uint16Array.from(queues, (queue) => order.indexOf(queue))
}

/** @throws TypeError, RangeError for queues that native code cannot serve. */
export function layoutOf(queues: readonly QueuePairMemory[], context: LayoutContext): LeaderLayout[] {
  return groupsOf(queues).map(([cq, pairs]) => {
    refuseShadow(cq.shadow, `completion queue ${cq.cqid}`)
    return {
      cq: nativeMemory(cq.memory, `the entries of completion queue ${cq.cqid}`, context),
      cqEntries: cq.entries,
      cqHead: cq.head,
      phase: cq.phase,
      headDoorbell: doorbell(cq.headDoorbell, context.window),
      pairs: pairs.map((pair) => pairLayout(pair, context)),
    }
  })
}

function pairLayout(queue: QueuePairMemory, context: LayoutContext): PairLayout {
  const { qid, prpLists, pageBytes } = queue
  refuseShadow(queue.shadow, `submission queue ${qid}`)
  const runs = runsOf(prpLists, pageBytes)
  return {
    sq: nativeMemory(queue.sq, `the entries of submission queue ${qid}`, context),
    prpLists: nativeMemory(prpLists, `the PRP lists of queue ${qid}`, context),
    // Nothing is posted yet, so that there is room.
    prpListRuns: context.addon.engineDescribe(context.engine, runs.iovas, runs.shift, prpLists.lengthBytes)!,
    qid,
    sqEntries: queue.sqEntries,
    sqTail: queue.sqTail,
    maxInFlight: queue.maxInFlight,
    slotBits: cidSlotBits(queue.maxInFlight),
    prpListBytes: queue.prpListBytes,
    pageBytes,
    sqTailDoorbell: doorbell(queue.sqTailDoorbell, context.window),
    generations: queue.generations,
  }
}

/** Puts the rings' positions where the driver has them. */
export function giveBack(queues: readonly QueuePairMemory[], positions: readonly LeaderPositions[]): void {
  groupsOf(queues).forEach(([cq, pairs], leader) => {
    const { cqHead, phase, pairs: ended } = positions[leader]!
    cq.head = cqHead
    cq.phase = phase
    pairs.forEach((pair, index) => {
      pair.sqTail = ended[index]!.sqTail
      pair.generations.set(ended[index]!.generations)
    })
  })
}

function nativeMemory(memory: DmaMemory, what: string, { addon, takesGpuPointers }: LayoutContext): NativeMemory {
  const { view, gpuPointer, lengthBytes } = memory
  if (takesGpuPointers && gpuPointer !== undefined) return { address: gpuPointer, lengthBytes, onDevice: true }
  if (view === undefined) {
    throw new TypeError(`${what}: expected memory that the CPU can reach, got memory on a GPU; leave queueMemory out`)
  }
  const address = addon.viewAddress(new Uint8Array(view.buffer, view.byteOffset, view.byteLength))
  return { address, lengthBytes, onDevice: false }
}

function doorbell(offset: number, window: BarWindow): number {
  if (offset + 4 <= window.lengthBytes) return offset
  throw new RangeError(
    `the doorbell at 0x${offset.toString(16)}: expected it in the ${window.lengthBytes} bytes of registers that are mapped`,
  )
}

function refuseShadow(shadow: object | undefined, what: string): void {
  if (shadow === undefined) return
  throw new TypeError(`${what}: this engine rings registers, and has no shadow doorbells; leave shadowDoorbells out`)
}
