import { GpuNvmeError } from '@gpunvme/nvme-spec/error'

/** Error of slots that cannot be allocated. Nothing stays allocated. */
export class SlotMemoryError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_SLOT_MEMORY'
  readonly category = 'infeasible'
  readonly slots: number
  readonly slotBytes: number
  /** Number of slots of this length that could be allocated. */
  readonly fittingSlots: number

  constructor(slots: number, slotBytes: number, fittingSlots: number, cause: Error) {
    const what = slots === 1 ? `a slot of ${slotBytes} bytes` : `${slots} slots of ${slotBytes} bytes each`
    const fits =
      fittingSlots > 0
        ? `use { slots: ${fittingSlots} }, which fits; or smaller slots`
        : 'use smaller slots: not even one of this length fits'
    super(`Cannot allocate ${what}: ${slots * slotBytes} bytes in all`, {
      facts: [cause.message, `${fittingSlots} of ${slots} could be allocated`],
      next: `${fits} ({ slotBytes }), which hold single tensors or experts instead of layers`,
      cause,
    })
    this.slots = slots
    this.slotBytes = slotBytes
    this.fittingSlots = fittingSlots
  }
}
