import { SGL1_OFFSET, SGL_DESCRIPTOR_BYTES, SGL_SUB_TYPE, SGL_TYPE, SglDataBlock, STATUS } from '@gpunvme/nvme-spec'
import type { StatusCode } from '@gpunvme/nvme-spec'
import { hex, type DiagnosticCode, type Diagnostics } from '../controller/diagnostics.js'
import type { Requester, MemoryAccess, ReachableMemory } from './reachable.js'
import { contentsOf, type Runs } from './runs.js'

/** More than any reasonable list has; ends a list that points to itself. */
const MAX_DESCRIPTORS = 1 << 18
/** Likewise: a short segment that points to itself would be read for a second before reaching the descriptor limit. */
const MAX_SEGMENTS = 1024

/** Status for a list that is too short, by its kind. */
const shortOf = { data: STATUS.DATA_SGL_LENGTH_INVALID, metadata: STATUS.METADATA_SGL_LENGTH_INVALID } as const

/** State of a walk: its target and its progress. */
interface Walk {
  readonly of: keyof typeof shortOf
  /** How its memory is accessed; bit buckets have no effect on data from the host. */
  readonly access: MemoryAccess
  readonly runs: Runs
  remainingBytes: number
  descriptors: number
  segments: number
  /** The first descriptor with unmapped bytes. */
  missing: { readonly name: string; readonly iova: number; readonly lengthBytes: number } | undefined
}

/** Location of a segment, from the descriptor that points to it. */
interface Segment {
  readonly iova: number
  readonly lengthBytes: number
  readonly isLast: boolean
}

/**
 * Walks Scatter Gather Lists (Base 2.1 §4.3.2) of addresses: data blocks, bit buckets, segments and last segments. Data
 * blocks may have any alignment, and a list may be longer than its data. All descriptors are checked, including those
 * after the end of the data.
 */
export class SglWalker {
  private readonly memory: ReachableMemory
  private readonly diagnostics: Diagnostics
  /** The command of the walk, for messages. */
  private requester: Requester | undefined

  constructor(memory: ReachableMemory, diagnostics: Diagnostics) {
    this.memory = memory
    this.diagnostics = diagnostics
  }

  /**
   * Fills `runs` with the location of `lengthBytes` of data, from SGL1 of a submission queue entry. Returns undefined
   * on success, otherwise the status, and then `runs` is invalid. Every byte is checked to be memory.
   */
  walkData(
    requester: Requester,
    entry: DataView,
    lengthBytes: number,
    access: MemoryAccess,
    runs: Runs,
  ): StatusCode | undefined {
    this.requester = requester
    runs.clear()
    const walk: Walk = {
      of: 'data',
      access,
      runs,
      remainingBytes: lengthBytes,
      descriptors: 1,
      segments: 0,
      missing: undefined,
    }
    return this.walk(walk, 'SGL1', new DataView(entry.buffer, entry.byteOffset + SGL1_OFFSET, SGL_DESCRIPTOR_BYTES))
  }

  /** Likewise for metadata, from the segment of exactly one descriptor at MPTR. */
  walkMetadata(
    requester: Requester,
    iova: number,
    lengthBytes: number,
    access: MemoryAccess,
    runs: Runs,
  ): StatusCode | undefined {
    this.requester = requester
    runs.clear()
    if (iova % 8 !== 0) {
      this.report(
        'data-pointer',
        `MPTR ${hex(iova)} points to an SGL segment and is not qword aligned (Base 2.1 §4.1.1)`,
      )
      return STATUS.INVALID_FIELD_IN_COMMAND
    }
    const first = contentsOf(this.memory, iova, SGL_DESCRIPTOR_BYTES)
    if (first === undefined) return this.missing('the SGL segment of MPTR', iova, SGL_DESCRIPTOR_BYTES)
    runs.listBytes += SGL_DESCRIPTOR_BYTES
    const walk: Walk = {
      of: 'metadata',
      access,
      runs,
      remainingBytes: lengthBytes,
      descriptors: 1,
      segments: 0,
      missing: undefined,
    }
    return this.walk(walk, 'the SGL descriptor of MPTR', viewOf(first))
  }

  /** `first` is a standalone descriptor: the only one, or a pointer to the first segment. */
  private walk(walk: Walk, name: string, first: DataView): StatusCode | undefined {
    let found = this.readSegment(walk, name, first, false)
    while (isSegment(found)) {
      const { iova, lengthBytes, isLast } = found
      walk.descriptors += lengthBytes / SGL_DESCRIPTOR_BYTES
      // Before reading: segments are copied, so their length must be checked.
      if (walk.descriptors > MAX_DESCRIPTORS) {
        this.report('data-pointer', `an SGL of more than ${MAX_DESCRIPTORS} descriptors: it may be a loop`)
        return STATUS.INVALID_NUMBER_OF_SGL_DESCRIPTORS
      }
      if (++walk.segments > MAX_SEGMENTS) {
        this.report('data-pointer', `an SGL of more than ${MAX_SEGMENTS} segments: it may be a loop`)
        return STATUS.INVALID_NUMBER_OF_SGL_DESCRIPTORS
      }
      const bytes = contentsOf(this.memory, iova, lengthBytes)
      if (bytes === undefined) return this.missing('an SGL segment', iova, lengthBytes)
      walk.runs.listBytes += lengthBytes
      found = this.readSegment(walk, iova, viewOf(bytes), isLast)
      if (found === undefined && !isLast) {
        // No status exists for this: the list is complete, only its last pointer announced a further segment.
        this.report(
          'data-pointer',
          `the SGL segment at ${hex(iova)} is the last one, but an SGL Segment descriptor points to it`,
        )
      }
    }
    if (found) return found
    if (walk.remainingBytes > 0) {
      this.report('data-pointer', `the ${walk.of} SGL is ${walk.remainingBytes} bytes too short (Base 2.1 §4.3.2)`)
      return shortOf[walk.of]
    }
    const { missing } = walk
    return missing && this.missing(missing.name, missing.iova, missing.lengthBytes)
  }

  /** Processes the descriptors of a segment. Returns the next segment, a status, or undefined at the end. */
  private readSegment(
    walk: Walk,
    at: string | number,
    segment: DataView,
    isLast: boolean,
  ): Segment | StatusCode | undefined {
    const { SGLDT, SGLDST } = SglDataBlock.SGLID
    const descriptor = SglDataBlock.view(segment)
    const count = segment.byteLength / SGL_DESCRIPTOR_BYTES
    for (let i = 0; i < count; i++) {
      const { ADDR, LEN, SGLID } = descriptor.at(i)
      const type = SGLDT.of(SGLID)
      if (!isSupported(type) || SGLDST.of(SGLID) !== SGL_SUB_TYPE.ADDRESS) {
        return this.refuse(
          nameOf(at, i),
          `has type ${type}h, sub type ${SGLDST.of(SGLID)}h`,
          STATUS.SGL_DESCRIPTOR_TYPE_INVALID,
        )
      }
      if (type !== SGL_TYPE.BIT_BUCKET && endsBeyond64Bits(segment, i)) {
        return this.refuse(nameOf(at, i), 'ends beyond 64 bits', shortOf[walk.of])
      }
      if (type === SGL_TYPE.SEGMENT || type === SGL_TYPE.LAST_SEGMENT) {
        return this.segmentOf(nameOf(at, i), i === count - 1, isLast, {
          iova: ADDR,
          lengthBytes: LEN,
          isLast: type === SGL_TYPE.LAST_SEGMENT,
        })
      }
      const taken = take(walk, type, ADDR, LEN)
      if (taken > 0 && type === SGL_TYPE.DATA_BLOCK && !this.memory.has(ADDR, taken, walk.access)) {
        walk.missing ??= { name: nameOf(at, i), iova: ADDR, lengthBytes: taken }
      }
    }
    return undefined
  }

  private segmentOf(name: string, isEnd: boolean, inLast: boolean, found: Segment): Segment | StatusCode {
    const { iova, lengthBytes } = found
    if (!isEnd) {
      return this.refuse(name, 'points to a segment, but is not last', STATUS.INVALID_NUMBER_OF_SGL_DESCRIPTORS)
    }
    if (inLast) return this.refuse(name, 'points beyond the last segment', STATUS.INVALID_SGL_SEGMENT_DESCRIPTOR)
    if (lengthBytes === 0 || lengthBytes % SGL_DESCRIPTOR_BYTES !== 0) {
      const why = `points to a segment of ${lengthBytes} bytes, which is not a multiple of 16`
      return this.refuse(name, why, STATUS.INVALID_SGL_SEGMENT_DESCRIPTOR)
    }
    if (iova % 8 === 0) return found
    return this.refuse(
      name,
      `points to ${hex(iova)}, which is not qword aligned`,
      STATUS.INVALID_SGL_SEGMENT_DESCRIPTOR,
    )
  }

  private refuse(name: string, why: string, status: StatusCode): StatusCode {
    this.report('data-pointer', `${name} ${why} (Base 2.1 §4.3.2)`)
    return status
  }

  private missing(what: string, iova: number, lengthBytes: number): StatusCode {
    this.report(
      'unmapped-memory',
      `${what} ${hex(iova)}, ${lengthBytes} bytes: ${this.memory.explainUnmapped(iova, lengthBytes)}`,
    )
    return STATUS.DATA_TRANSFER_ERROR
  }

  private report(code: DiagnosticCode, what: string): void {
    this.diagnostics.report(code, `${this.requester!.describe()}: ${what}`)
  }
}

/** Returns a descriptor's name: that of a standalone one, or its index in the segment at a device address. */
function nameOf(at: string | number, index: number): string {
  return typeof at === 'string' ? at : `SGL descriptor ${index} of the segment at ${hex(at)}`
}

/** Takes as much of a data block or bit bucket as there are data left. Returns the number of bytes. */
function take(walk: Walk, type: number, iova: number, lengthBytes: number): number {
  const { runs, access } = walk
  const taken = Math.min(lengthBytes, walk.remainingBytes)
  if (taken === 0 || (type === SGL_TYPE.BIT_BUCKET && access === 'read')) return 0
  if (type === SGL_TYPE.BIT_BUCKET) runs.discard(taken)
  else runs.add(iova, taken)
  walk.remainingBytes -= taken
  return taken
}

function isSupported(type: number): boolean {
  const { DATA_BLOCK, BIT_BUCKET, SEGMENT, LAST_SEGMENT } = SGL_TYPE
  return type === DATA_BLOCK || type === BIT_BUCKET || type === SEGMENT || type === LAST_SEGMENT
}

function isSegment(found: Segment | StatusCode | undefined): found is Segment {
  return found !== undefined && 'isLast' in found
}

/** Exact for 64-bit numbers: whether address and length add up to more than 2^64. */
function endsBeyond64Bits(segment: DataView, index: number): boolean {
  const at = index * SGL_DESCRIPTOR_BYTES
  const end = segment.getUint32(at, true) + segment.getUint32(at + 8, true)
  return segment.getUint32(at + 4, true) === 0xffff_ffff && end > 0x1_0000_0000
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}
