import { pagesOf } from '../load/slots.js'

/** Numbers of slots: layers that are in transit or in use. */
export interface SlotCounts {
  /** Slots on the GPU for copies. */
  readonly copies: number
  /** Slots for reads from the drive: in host memory in tier 1, on the GPU in tier 2. */
  readonly drive: number
}

/** The slots of a plan and their memory. */
export interface SlotLayout extends SlotCounts {
  /** Bytes of one slot. */
  readonly copySlotBytes: number
  readonly driveSlotBytes: number
  /** Bytes of all slots. */
  readonly vramBytes: number
  readonly ramBytes: number
}

interface LayOutOptions {
  readonly tier: 1 | 2
  readonly slots?: Partial<SlotCounts>
}

/** Returns the memory of a layer: whole pages, as it is read. */
export function memoryBytesOf({ lengthBytes }: { readonly lengthBytes: number }): number {
  return pagesOf(lengthBytes)
}

/**
 * Returns the numbers of slots. In tier 1, all layers that are not on the GPU pass through the copy slots: four allow
 * two layers from the drive to be in transit with two from host memory between them. In tier 2, each lane has its own,
 * and needs one to fill and one that waits.
 */
export function slotCounts({ tier, slots }: LayOutOptions): SlotCounts {
  return { copies: tier === 1 ? 4 : 2, drive: 2, ...slots }
}

/**
 * Returns the slots and their memory if layers come from the given places.
 * @param copyBytes length of the longest copied layer
 * @param driveBytes length of the longest layer that is read into a slot
 */
export function layOut(
  copyBytes: number,
  driveBytes: number,
  options: LayOutOptions,
  lane: { readonly ram: boolean; readonly nvme: boolean },
): SlotLayout {
  const counts = slotCounts(options)
  const isCopying = lane.ram || (lane.nvme && options.tier === 1)
  const copies = isCopying ? counts.copies : 0
  // In tier 1, layers that stay on the GPU are brought there through a slot, even if nothing is read later.
  const drive = lane.nvme ? counts.drive : options.tier === 1 && driveBytes > 0 ? 1 : 0
  const [copySlots, driveSlots] = [copies * copyBytes, drive * driveBytes]
  return {
    copies,
    drive,
    copySlotBytes: copies === 0 ? 0 : copyBytes,
    driveSlotBytes: drive === 0 ? 0 : driveBytes,
    vramBytes: copySlots + (options.tier === 2 ? driveSlots : 0),
    ramBytes: options.tier === 1 ? driveSlots : 0,
  }
}
