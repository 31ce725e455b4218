import { LoaderError } from '../error.js'
import { quote } from '../formats/quote.js'
import type { StoredExtent } from './extent.js'
import type { TicketState } from './ticket.js'

/** Longest delay of a timer, in milliseconds: it has 31 bits. */
const MAX_MS = 2 ** 31 - 1

/** Checks a deadline, in milliseconds. @throws RangeError */
export function checkDeadline(deadlineMs: number): void {
  if (deadlineMs > 0 && deadlineMs <= MAX_MS) return
  throw new RangeError(`deadlineMs: expected more than 0 and at most ${MAX_MS}, got ${deadlineMs}`)
}

/** What a request did at its deadline. */
const PROGRESS: Record<TicketState, string> = {
  waiting: 'it waited for a free slot',
  loading: 'it was being read',
  ready: 'it was in memory, but its lease had not been requested',
  leased: 'it was leased',
  failed: 'it had failed',
}

/** Next step by the state at the deadline. */
const NEXT: Partial<Record<TicketState, string>> = {
  waiting: 'release leases earlier, or open the loader with more slots',
  ready: 'call lease() before the deadline: ready() does not end it',
}

/** Error of a request that was not leased by its deadline. */
export function deadlinePassed({ name }: StoredExtent, deadlineMs: number, state: TicketState): LoaderError {
  const headline = `${quote(name)} was not leased within ${deadlineMs} ms: ${PROGRESS[state]}`
  return new LoaderError('ERR_GPUNVME_DEADLINE', 'failure', headline, {
    next: NEXT[state] ?? 'request it earlier, or with the priority "now"',
  })
}
