import { GpuNvmeError } from '@gpunvme/nvme-spec/error'

/** Returns whether an allocator has no memory left, or a limit: by V8 and by the contract of `alloc`, or by the system. */
export function isExhausted(error: unknown): error is Error {
  if (error instanceof RangeError) return true
  return error instanceof Error && ['ENOMEM', 'EAGAIN'].includes(String((error as { code?: unknown }).code))
}

/** Error of slots that cannot be allocated. Nothing stays allocated. */
export class SlotMemoryError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_SLOT_MEMORY'
  readonly category = 'infeasible'
  readonly slots: number
  readonly slotBytes: number
  /** Number of slots of this length that could be allocated. */
  readonly fittingSlots: number

  constructor(slots: number, slotBytes: number, fittingSlots: number, cause: Error) {
    const total = slots === 1 ? '' : `, ${slots * slotBytes} bytes in all`
    super(`Cannot allocate ${slots} ${slots === 1 ? 'slot' : 'slots'} of ${slotBytes} bytes${total}`, {
      facts: [cause.message, `${fittingSlots} of ${slots} could be allocated`],
      next:
        (fittingSlots > 0 ? `use { slots: ${fittingSlots} }; or ` : '') +
        'use a smaller { slotBytes }, and request tensors or experts instead of layers',
      cause,
    })
    this.slots = slots
    this.slotBytes = slotBytes
    this.fittingSlots = fittingSlots
  }
}
