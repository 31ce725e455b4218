import { VFIO_REGION_CAPABILITY, VfioCapability, VfioIrqInfo, VfioRegionInfo } from '@gpunvme/nvme-spec/vfio-user'
import type { AddressRange } from './address-space.js'

// Answers about regions and interrupts that the kernel's vfio and vfio-user have in common.

/** Location of a region in its file, and its parts that can be mapped. Offsets are Numbers: they are below 2^53. */
export interface VfioRegion {
  readonly lengthBytes: number
  readonly fileOffset: number
  /** Counted from the start of the region; all of it if it may be mapped without exceptions. */
  readonly mappable: readonly AddressRange[]
}

/** Decodes an answer with its capabilities. @throws RangeError if its areas are incomplete. */
export function regionOf(data: DataView): VfioRegion {
  const { FLAGS, CAP_OFFSET, SIZE, OFFSET } = VfioRegionInfo.view(data)
  const lengthBytes = Number(SIZE)
  const whole = { lengthBytes, fileOffset: Number(OFFSET), mappable: [{ start: 0, lengthBytes }] }
  if (VfioRegionInfo.FLAGS.MMAP.of(FLAGS) === 0) return { ...whole, mappable: [] }
  if (VfioRegionInfo.FLAGS.CAPS.of(FLAGS) === 0) return whole
  // Older kernels exclude the pages of the MSI-X Table; a simulator excludes all but the doorbells.
  const sparse = capabilityChain(data, CAP_OFFSET).get(VFIO_REGION_CAPABILITY.SPARSE_MMAP)
  if (sparse === undefined) return whole
  const areas = pairs(data, sparse).map(([start, size]) => ({ start: Number(start), lengthBytes: Number(size) }))
  return { ...whole, mappable: areas.filter((area) => area.lengthBytes > 0) }
}

/** Decodes an answer: how many interrupts signal an eventfd. */
export function eventfdCount(data: DataView): number {
  const { FLAGS, COUNT } = VfioIrqInfo.view(data)
  return VfioIrqInfo.FLAGS.EVENTFD.of(FLAGS) === 1 ? COUNT : 0
}

/** Returns the offset of each capability of an answer, by its ID. */
export function capabilityChain(data: DataView, first: number): Map<number, number> {
  const found = new Map<number, number>()
  for (let at = first; at !== 0 && at + VfioCapability.bytes <= data.byteLength;) {
    const { ID, NEXT } = VfioCapability.view(data, at)
    if (found.has(ID)) break
    found.set(ID, at)
    at = NEXT
  }
  return found
}

/** Bytes of a capability's header, its count and 4 reserved bytes; pairs of 64-bit values follow. */
const PAIRS_OFFSET = VfioCapability.bytes + 8
const PAIR_BYTES = 16

/**
 * Returns the pairs of numbers of a capability that counts them in its first dword: IOVA_RANGE, SPARSE_MMAP.
 * @throws RangeError if the answer ends before they do.
 */
export function pairs(data: DataView, capability: number): (readonly [bigint, bigint])[] {
  const room = Math.floor((data.byteLength - capability - PAIRS_OFFSET) / PAIR_BYTES)
  const count = room < 0 ? 1 : data.getUint32(capability + VfioCapability.bytes, true)
  if (count > room)
    throw new RangeError(`capability at ${capability}: expected at most ${Math.max(0, room)} pairs, got ${count}`)
  return Array.from({ length: count }, (_, index) => {
    const at = capability + PAIRS_OFFSET + index * PAIR_BYTES
    return [data.getBigUint64(at, true), data.getBigUint64(at + 8, true)] as const
  })
}
