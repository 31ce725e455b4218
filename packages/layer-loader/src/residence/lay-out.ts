/** How many layers may be on their way at once, those that are computed on included. */
export interface SlotCounts {
  /** Slots on the GPU that copies go to. */
  readonly copies: number
  /** Slots that the drive's reads go to: in host memory in tier 1, on the GPU in tier 2. */
  readonly drive: number
}

/** The slots of a plan, and what they take. */
export interface Places extends SlotCounts {
  /** Of one slot. */
  readonly copySlotBytes: number
  readonly driveSlotBytes: number
  /** Of all of them. */
  readonly vramBytes: number
  readonly ramBytes: number
}

interface LayOutOptions {
  readonly tier: 1 | 2
  readonly slots?: Partial<SlotCounts>
}

const PAGE_BYTES = 4096

/** What a layer takes of any memory: whole pages, as it is read by. */
export function memoryBytesOf({ lengthBytes }: { readonly lengthBytes: number }): number {
  return Math.max(1, Math.ceil(lengthBytes / PAGE_BYTES)) * PAGE_BYTES
}

/**
 * How many slots a plan has. In tier 1 every layer that is not on the GPU passes through the copy slots, so that these
 * are as far as anything can be ahead: four let two layers from the drive be on their way with two from host memory
 * between them. In tier 2 each lane has its own, and needs one to be filled beside one that waits for its turn.
 */
export function slotCounts({ tier, slots }: LayOutOptions): SlotCounts {
  return { copies: tier === 1 ? 4 : 2, drive: 2, ...slots }
}

/**
 * What slots take, where layers come from the given places.
 * @param copyBytes the longest layer that is copied
 * @param driveBytes the longest that is read into a slot
 */
export function layOut(
  copyBytes: number,
  driveBytes: number,
  options: LayOutOptions,
  lane: { readonly ram: boolean; readonly nvme: boolean },
): Places {
  const counts = slotCounts(options)
  const isCopying = lane.ram || (lane.nvme && options.tier === 1)
  const copies = isCopying ? counts.copies : 0
  // In tier 1 what stays on the GPU is brought there through a slot, even where nothing is read afterwards.
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
