import { LoaderError } from '../error.js'
import { quote } from '../formats/quote.js'

/** Returns whether an allocator has no memory left, or a limit: by V8 and by the contract of `alloc`, or by the system. */
export function isExhausted(error: unknown): error is Error {
  if (error instanceof RangeError) return true
  return error instanceof Error && ['ENOMEM', 'EAGAIN'].includes(String((error as { code?: unknown }).code))
}

/** Error of an extent whose memory cannot be allocated. */
export function extentMemoryError(name: string, lengthBytes: number, cause: Error): LoaderError {
  const headline = `Cannot allocate ${lengthBytes} bytes for ${quote(name)}`
  return new LoaderError('ERR_GPUNVME_SLOT_MEMORY', 'infeasible', headline, {
    facts: [cause.message],
    next: 'release leases first, or use a smaller { memoryBytes }',
    cause,
  })
}

/** Error of slots that cannot be allocated. @param fitting number of slots that could be */
export function slotMemoryError(slots: number, slotBytes: number, fitting: number, cause: Error): LoaderError {
  const total = slots === 1 ? '' : `, ${slots * slotBytes} bytes in all`
  const headline = `Cannot allocate ${slots} ${slots === 1 ? 'slot' : 'slots'} of ${slotBytes} bytes${total}`
  return new LoaderError('ERR_GPUNVME_SLOT_MEMORY', 'infeasible', headline, {
    facts: [cause.message, `${fitting} of ${slots} could be allocated`],
    next:
      (fitting > 0 ? `use { slots: ${fitting} }; or ` : '') +
      'use a smaller { slotBytes }: streamLayers then splits layers; with a loader, request loader.parts(extent), tensors or experts',
    cause,
  })
}
