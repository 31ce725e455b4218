import { runsOf } from '@gpunvme/nvme-spec/engine'
import type { BarWindow, DmaMemory, QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import { checkQueues } from '../queue-shape.js'
import type { EngineAddon, EngineHandle, NativeMemory, QueueLayout, QueuePositions } from './engine-addon.js'

/** Context in which queues are converted for native code. */
export interface LayoutContext {
  readonly addon: EngineAddon
  readonly engine: EngineHandle
  readonly window: BarWindow
  /** Whether leaders can access memory by its `gpuPointer`. */
  readonly takesGpuPointers: boolean
}

/** Converts queues for native code. @throws TypeError, RangeError for queues that it cannot serve. */
export function layoutOf(queues: readonly QueuePairMemory[], context: LayoutContext): QueueLayout[] {
  checkQueues(queues)
  return queues.map((queue) => {
    const { qid, cq, prpLists, pageBytes } = queue
    refuseShadow(queue.shadow, `submission queue ${qid}`)
    refuseShadow(cq.shadow, `completion queue ${cq.cqid}`)
    const runs = runsOf(prpLists, pageBytes)
    return {
      sq: nativeMemory(queue.sq, `the entries of submission queue ${qid}`, context),
      cq: nativeMemory(cq.memory, `the entries of completion queue ${cq.cqid}`, context),
      prpLists: nativeMemory(prpLists, `the PRP lists of queue ${qid}`, context),
      // There is room, since nothing is posted yet.
      prpListRuns: context.addon.engineDescribe(context.engine, runs.iovas, runs.shift, prpLists.lengthBytes)!,
      qid,
      entries: queue.sqEntries,
      sqTail: queue.sqTail,
      cqHead: cq.head,
      phase: cq.phase,
      maxInFlight: queue.maxInFlight,
      prpListBytes: queue.prpListBytes,
      pageBytes,
      sqTailDoorbell: doorbell(queue.sqTailDoorbell, context.window),
      cqHeadDoorbell: doorbell(cq.headDoorbell, context.window),
      generations: queue.generations,
    }
  })
}

/** Writes the rings' positions back to the driver's queues. */
export function giveBack(queues: readonly QueuePairMemory[], positions: readonly QueuePositions[]): void {
  queues.forEach((queue, index) => {
    const { sqTail, cqHead, phase, generations } = positions[index]!
    queue.sqTail = sqTail
    queue.cq.head = cqHead
    queue.cq.phase = phase
    queue.generations.set(generations)
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
