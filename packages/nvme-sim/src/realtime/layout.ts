import { planBar } from '../pci/function.js'
import type { DriveProfile } from '../profiles/profile.js'

/**
 * Layout of the memory shared by host and simulator, in bytes from its first byte. A native caller computes all
 * addresses from it: a doorbell is a 32-bit store at `barOffsetBytes` + 1000h + …, and the device address of the byte
 * at offset o is `baseIova` + o. The caller must keep this order:
 * - entries and data are written before the doorbell, which is a release store (on a GPU: after a system fence);
 * - the dword of a completion with the Phase Tag is loaded with acquire, the rest of the completion and its data after
 *   that;
 * - registers are stored in order with release, CC last; `RegisterPage` describes the effect of a store.
 */
export interface RealTimeLayout {
  /** BAR0 as plain memory: the registers, and doorbells from 1000h. */
  readonly barOffsetBytes: number
  readonly barBytes: number
  /** Memory accessible to the controller: queues, PRP lists, data. It can access nothing else. */
  readonly dmaOffsetBytes: number
  readonly dmaBytes: number
  /** Device address of the memory's first byte. */
  readonly baseIova: number
}

/** Unit of allocation and of access control. */
export const DMA_PAGE_BYTES = 4096

/** Above 4 GiB: a truncated address hits nothing. */
export const DEFAULT_BASE_IOVA = 0x1_0000_0000

/**
 * Returns the layout of `lengthBytes` of memory for a drive of this profile.
 * @throws RangeError if no page is left for DMA, or the addresses are not exact numbers.
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
