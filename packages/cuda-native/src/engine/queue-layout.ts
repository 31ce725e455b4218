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

/** Context in which queues are converted for native code. */
export interface LayoutContext {
  readonly addon: EngineAddon
  readonly engine: EngineHandle
  readonly window: BarWindow
  /** Whether leaders can access memory by its `gpuPointer`. */
  readonly takesGpuPointers: boolean
}

/** The queues of one leader, which share a completion queue. */
type Group = readonly [cq: CompletionQueueMemory, pairs: readonly QueuePairMemory[]]

/** Groups queues by completion queue, in the order of first appearance. */
export function groupsOf(queues: readonly QueuePairMemory[]): Group[] {
  const cqs = [...new Set(queues.map(({ cq }) => cq))]
  return cqs.map((cq) => [cq, queues.filter((queue) => queue.cq === cq)])
}

/**
 * Returns the native index of each queue: its position when the groups are concatenated. Plans name queues in the order in
 * which they were attached.
 */
export function nativeIndexes(queues: readonly QueuePairMemory[]): Uint16Array {
  const order = groupsOf(queues).flatMap(([, pairs]) => pairs)
  return Uint16Array.from(queues, (queue) => order.indexOf(queue))
}

/** Converts queues for native code. @throws TypeError, RangeError for queues that it cannot serve. */
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
    // There is room, since nothing is posted yet.
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

/** Writes the rings' positions back to the driver's queues. */
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
    throw new TypeError(`${what}: expected memory that the CPU can access, got memory on a GPU; omit queueMemory`)
  }
  const address = addon.viewAddress(new Uint8Array(view.buffer, view.byteOffset, 1))
  return { address, lengthBytes, onDevice: false }
}

function doorbell(offset: number, window: BarWindow): number {
  if (offset + 4 <= window.lengthBytes) return offset
  throw new RangeError(
    `the doorbell at 0x${offset.toString(16)}: expected an offset in the ${window.lengthBytes} mapped bytes of registers`,
  )
}

function refuseShadow(shadow: object | undefined, what: string): void {
  if (shadow === undefined) return
  throw new TypeError(`${what}: this engine does not support shadow doorbells; omit shadowDoorbells`)
}
