import {
  buildPrps,
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

/** Fields of a submission queue entry that describe the location of its data. */
interface PointingEntry {
  PSDT: 0 | 1 | 2
  PRP1: number
  PRP2: number
}

const LAST_SEGMENT = SglLastSegment.create({ SGLID: { SGLDT: SGL_TYPE.LAST_SEGMENT } }).SGLID
const ENTRY_STRIDE = SQE.bytes / SGL_DESCRIPTOR_BYTES

/**
 * Describes the data of a command in its submission queue entry and list pages. Uses PRPs, unless an SGL avoids a PRP
 * list (one segment of memory is one descriptor, in the entry itself) or memory ends inside a page, which PRPs cannot
 * describe. Allocates nothing.
 */
export class DataPointer {
  private readonly queue: QueuePairMemory
  private readonly lists: ReachableMemory
  private readonly lastSegment: ReturnType<typeof SglLastSegment.view>
  private readonly dataBlock: ReturnType<typeof SglDataBlock.view>
  /** Maximum number of descriptors per command: one list page, since the addresses of a segment are consecutive. */
  private readonly maxDescriptors: number

  constructor(queue: QueuePairMemory) {
    this.queue = queue
    this.lists = reachable(queue.prpLists)
    this.lastSegment = SglLastSegment.view(hostView(queue.sq), SGL1_OFFSET)
    this.dataBlock = SglDataBlock.view(this.lists.view)
    this.maxDescriptors =
      queue.sgl === undefined ? 0 : Math.min(queue.prpListBytes, queue.pageBytes) / SGL_DESCRIPTOR_BYTES
  }

  /**
   * Returns why a transfer cannot be described; undefined if it can.
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
        return `segments of whole dwords, which this controller's SGLs require, got one at 0x${iova.toString(16)}`
      }
      descriptors++
    }
    if (descriptors <= this.maxDescriptors) return undefined
    return `at most ${this.maxDescriptors} segments if they do not meet at ends of pages, got ${descriptors}`
  }

  /**
   * Writes the data pointer of the entry at `index` for the command of `slot`, after `problem` has accepted the
   * transfer.
   * @param entry the same entry, with a data pointer of zeroes.
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
      // SGL1 is a data block: its address has the position of PRP1, its length and its identifier (0) that of PRP2.
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
      entry.PRP2 = buildPrps(memory, offsetBytes, lengthBytes, pageBytes, lists, listOffset)
      if (!needsList) return
    }
    lists.forDevice(listOffset, prpListBytes)
  }

  /** Writes one data block for each segment; returns their number. */
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
