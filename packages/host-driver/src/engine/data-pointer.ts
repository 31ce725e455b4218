import {
  layPrps,
  SGL1_OFFSET,
  SGL_DESCRIPTOR_BYTES,
  SGL_TYPE,
  SglDataBlock,
  SglLastSegment,
  SQE,
} from '@gpunvme/nvme-spec'
import { firstBreakInPage, prpProblem, segmentAt } from '@gpunvme/nvme-spec/engine'
import type { DmaMemory, DmaSegment, QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import { hostView, reachable, type ReachableMemory } from '../memory/reachable.js'

/** The fields of a submission queue entry that say where its data is. */
interface PointingEntry {
  PSDT: 0 | 1 | 2
  PRP1: number
  PRP2: number
}

const LAST_SEGMENT = SglLastSegment.create({ SGLID: { SGLDT: SGL_TYPE.LAST_SEGMENT } }).SGLID
const ENTRY_STRIDE = SQE.bytes / SGL_DESCRIPTOR_BYTES

/**
 * Describes where a command's data is, in its entry of the submission queue and in its list pages. PRPs, unless an SGL
 * spares a PRP list - one run of memory is one descriptor, in the entry itself - or memory breaks off inside a page,
 * which PRPs cannot say. Nothing here allocates.
 */
export class DataPointer {
  private readonly queue: QueuePairMemory
  private readonly lists: ReachableMemory
  private readonly lastSegment: ReturnType<typeof SglLastSegment.view>
  private readonly dataBlock: ReturnType<typeof SglDataBlock.view>
  /** Descriptors that the list pages of one command hold. One page of them: a segment lies at consecutive addresses. */
  private readonly mostDescriptors: number

  constructor(queue: QueuePairMemory) {
    this.queue = queue
    this.lists = reachable(queue.prpLists)
    this.lastSegment = SglLastSegment.view(hostView(queue.sq), SGL1_OFFSET)
    this.dataBlock = SglDataBlock.view(this.lists.view)
    this.mostDescriptors =
      queue.sgl === undefined ? 0 : Math.min(queue.prpListBytes, queue.pageBytes) / SGL_DESCRIPTOR_BYTES
  }

  /**
   * Why this transfer cannot be described; undefined where it can.
   * @param lengthBytes at least 1, inside the memory.
   */
  problem(memory: DmaMemory, offsetBytes: number, lengthBytes: number): string | undefined {
    const { pageBytes, sgl } = this.queue
    const problem = prpProblem(memory, offsetBytes, lengthBytes, pageBytes)
    if (problem === undefined || sgl === undefined) return problem
    const { segments } = memory
    const endBytes = offsetBytes + lengthBytes
    const first = segmentAt(segments, offsetBytes)
    let descriptors = 0
    for (let index = first; index < segments.length && segments[index]!.offsetBytes < endBytes; index++) {
      const { iova, lengthBytes: bytes } = segments[index]!
      if (sgl === 'dword' && (iova % 4 !== 0 || (index > first && bytes % 4 !== 0))) {
        return `segments of whole dwords, as this controller's SGLs take them, got one at 0x${iova.toString(16)}`
      }
      descriptors++
    }
    if (descriptors <= this.mostDescriptors) return undefined
    return `at most ${this.mostDescriptors} segments, where these do not meet at ends of pages, got ${descriptors}`
  }

  /**
   * Writes the data pointer of the entry at `index`, which belongs to the command of `slot`. `problem` has passed it.
   * @param entry the same entry, with its data pointer all zeroes.
   */
  write(
    entry: PointingEntry,
    index: number,
    slot: number,
    memory: DmaMemory,
    offsetBytes: number,
    lengthBytes: number,
  ): void {
    const { queue, lists } = this
    const { segments } = memory
    const { pageBytes, prpListBytes } = queue
    const first = segmentAt(segments, offsetBytes)
    const endBytes = offsetBytes + lengthBytes
    const iova = memory.iovaAt(offsetBytes)
    const needsList = (iova % pageBytes) + lengthBytes > 2 * pageBytes
    const isOneRun = endBytes <= segments[first]!.offsetBytes + segments[first]!.lengthBytes
    if (isOneRun && needsList && queue.sgl !== undefined) {
      entry.PSDT = SQE.PSDT.SGL
      // SGL1 is a data block: its address lies where PRP1 does, its length and its identifier of 0 where PRP2 does.
      entry.PRP1 = iova
      entry.PRP2 = lengthBytes
      return
    }
    const listOffset = slot * prpListBytes
    if (!isOneRun && firstBreakInPage(segments, first, endBytes, pageBytes) !== undefined) {
      const descriptors = this.writeSegment(segments, first, offsetBytes, endBytes, listOffset)
      entry.PSDT = SQE.PSDT.SGL
      const sgl1 = this.lastSegment.at(index * ENTRY_STRIDE)
      sgl1.ADDR = lists.iovaAt(listOffset)
      sgl1.LEN = descriptors * SGL_DESCRIPTOR_BYTES
      sgl1.SGLID = LAST_SEGMENT
    } else {
      entry.PRP1 = iova
      entry.PRP2 = layPrps(memory, offsetBytes, lengthBytes, pageBytes, lists, listOffset)
      if (!needsList) return
    }
    lists.forDevice(listOffset, prpListBytes)
  }

  /** One data block for each run of memory; gives how many. */
  private writeSegment(
    segments: readonly DmaSegment[],
    first: number,
    offsetBytes: number,
    endBytes: number,
    listOffset: number,
  ): number {
    const base = listOffset / SGL_DESCRIPTOR_BYTES
    let descriptors = 0
    for (let index = first; index < segments.length && segments[index]!.offsetBytes < endBytes; index++) {
      const segment = segments[index]!
      const skip = Math.max(0, offsetBytes - segment.offsetBytes)
      const block = this.dataBlock.at(base + descriptors)
      block.ADDR = segment.iova + skip
      block.LEN = Math.min(segment.lengthBytes, endBytes - segment.offsetBytes) - skip
      block.SGLID = 0
      descriptors++
    }
    return descriptors
  }
}
