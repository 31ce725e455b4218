import type { DmaSegment, NativeRegion } from '@gpunvme/nvme-spec/transport'
import { DriverError, hasCode } from '../../error.js'
import { Segment } from './abi.js'
import { call, checkOpen, releaseHandle, type KmodNode } from './call.js'

const PAGE_BYTES = 4096

/** Maximum number of tries for memory that has more segments each time. */
const MAX_TRIES = 4

/** Structure of a request that fills an array of segments. */
export interface SegmentRequest {
  readonly data: DataView
  SEGMENTS: bigint
  SEGMENT_CAPACITY: number
  readonly SEGMENT_COUNT: number
  readonly HANDLE: number
  /** Bytes of the memory. */
  readonly LENGTH: number
}

/**
 * Buffer to which the kernel writes segments. It has a fixed address, grows with the longest answer, and stays mapped.
 */
export class SegmentTable {
  private readonly node: KmodNode
  private region: NativeRegion | undefined

  constructor(node: KmodNode) {
    this.node = node
  }

  /**
   * Makes a request with room for all of its segments; returns them in order, adjacent ones joined.
   * @throws as `call`; DriverError (KMOD_SEGMENTS) if they do not make up the memory, which is then freed.
   */
  request(name: 'PIN_USER' | 'IMPORT_DMABUF', argument: SegmentRequest): DmaSegment[] {
    checkOpen(this.node)
    for (let tries = 1; ; tries++) {
      const region = (this.region ??= this.node.host.allocate(PAGE_BYTES, PAGE_BYTES))
      argument.SEGMENTS = region.address
      argument.SEGMENT_CAPACITY = Math.floor(region.lengthBytes / Segment.bytes)
      try {
        call(this.node, name, argument.data)
      } catch (error) {
        // Nothing is held in this case, and the number of segments is known.
        if (!hasCode(error, 'ERR_GPUNVME_KMOD', 'ENOSPC') || tries === MAX_TRIES) throw error
        this.grow(argument.SEGMENT_COUNT * Segment.bytes)
        continue
      }
      const segments = joined(region.buffer, argument.SEGMENT_COUNT)
      const fault = segmentsFault(segments, argument.LENGTH)
      if (fault === undefined) return segments
      releaseHandle(this.node, argument.HANDLE)
      const headline = `The module gpunvme returned invalid memory addresses for ${this.node.bdf}: ${fault}`
      const next = 'load the matching module: kmod/README.md'
      throw new DriverError('ERR_GPUNVME_KMOD_SEGMENTS', 'failure', headline, { next })
    }
  }

  unmap(): void {
    this.region?.unmap()
    this.region = undefined
  }

  private grow(lengthBytes: number): void {
    this.unmap()
    this.region = this.node.host.allocate(lengthBytes, PAGE_BYTES)
  }
}

function joined(table: ArrayBuffer, count: number): DmaSegment[] {
  const cursor = Segment.view(new DataView(table))
  const segments: { offsetBytes: number; iova: number; lengthBytes: number }[] = []
  for (let index = 0; index < count; index++) {
    const { OFFSET, IOVA, LENGTH } = cursor.at(index)
    const last = segments.at(-1)
    if (last !== undefined && last.iova + last.lengthBytes === IOVA) last.lengthBytes += LENGTH
    else segments.push({ offsetBytes: OFFSET, iova: IOVA, lengthBytes: LENGTH })
  }
  return segments
}

/**
 * Returns what is wrong with the segments of `lengthBytes` bytes: after a missed error, data would be written
 * elsewhere.
 */
function segmentsFault(segments: readonly DmaSegment[], lengthBytes: number): string | undefined {
  let end = 0
  for (const { offsetBytes, iova, lengthBytes: bytes } of segments) {
    if (offsetBytes !== end || bytes <= 0) return `byte ${end} has no address`
    if (!Number.isSafeInteger(iova + bytes)) return `${iova} is not a valid address`
    end += bytes
  }
  return end === lengthBytes ? undefined : `${end} of ${lengthBytes} bytes have addresses`
}
