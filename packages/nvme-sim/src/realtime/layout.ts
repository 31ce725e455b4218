import { planBar } from '../pci/function.js'
import type { DriveProfile } from '../profiles/profile.js'

/**
 * Where things lie in the memory that a host and a simulator share, in bytes from its first byte. A native caller
 * computes every address from this: a doorbell is a 32-bit store at `barOffsetBytes` + 1000h + …, and the device
 * address of the byte at offset o is `baseIova` + o. Its part of the order of things:
 * - entries and data are written before the doorbell, which is a release store (on a GPU: a fence of the system first);
 * - the dword of a completion with the Phase Tag is loaded with acquire, and the rest of it and its data after that;
 * - registers are stored in their order with release, CC last; `RegisterPage` says what a store there means.
 */
export interface RealTimeLayout {
  /** BAR0 as plain memory: the controller properties, and from 1000h on the doorbells. */
  readonly barOffsetBytes: number
  readonly barBytes: number
  /** Memory that the controller reaches: queues, PRP lists, data. It reaches nothing else. */
  readonly dmaOffsetBytes: number
  readonly dmaBytes: number
  /** The device address of the memory's first byte. */
  readonly baseIova: number
}

/** What of the memory can be allocated, and may be reached or not, as a whole. */
export const DMA_PAGE_BYTES = 4096

/** Above 4 GiB: an address that lost its upper half hits nothing. */
export const DEFAULT_BASE_IOVA = 0x1_0000_0000

/**
 * The layout of `lengthBytes` of memory for a drive of that profile.
 * @throws RangeError where the memory leaves no page for DMA, or the addresses are not exact numbers.
 */
export function realTimeLayout(profile: DriveProfile, lengthBytes: number, baseIova: number): RealTimeLayout {
  const { lengthBytes: bar } = planBar(profile)
  const dmaBytes = Math.floor((lengthBytes - bar) / DMA_PAGE_BYTES) * DMA_PAGE_BYTES
  if (!(dmaBytes >= DMA_PAGE_BYTES)) {
    throw new RangeError(
      `shared memory: ${lengthBytes} bytes; BAR0 takes ${bar}, and DMA needs a page of ${DMA_PAGE_BYTES}`,
    )
  }
  if (!Number.isSafeInteger(baseIova + lengthBytes) || baseIova < 0 || baseIova % DMA_PAGE_BYTES !== 0) {
    throw new RangeError(
      `shared memory: expected a base address of whole pages with all addresses below 2^53, got ${baseIova}`,
    )
  }
  return { barOffsetBytes: 0, barBytes: bar, dmaOffsetBytes: bar, dmaBytes, baseIova }
}
