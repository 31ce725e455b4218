import { nextTurn } from '@gpunvme/nvme-spec/runtime'
import { DriverError } from '../error.js'
import { NS_PER_MS } from '../wait.js'
import type { OwnTransport } from './own-transport.js'

/**
 * Time limit of a reset. A function responds 100 ms after it, a slow one within a second (PCIe: configuration retries).
 */
export const FUNCTION_RESET_NS = 2_000 * NS_PER_MS

/** Resets the function. @throws DriverError (FUNCTION_RESET) after the time limit; errors of the transport. */
export async function resetFunction({ underlying, clock, name }: OwnTransport): Promise<void> {
  const deadlineNs = clock.now() + FUNCTION_RESET_NS
  let outcome: 'pending' | 'done' | { readonly error: unknown } = 'pending'
  const settle = (value: typeof outcome) => {
    outcome = value
  }
  underlying.reset!('function').then(
    () => settle('done'),
    (error: unknown) => settle({ error }),
  )
  const current = () => outcome
  while (current() === 'pending') {
    if (clock.now() >= deadlineNs) {
      const headline = `The function reset of ${name} did not complete in ${FUNCTION_RESET_NS / 1e9} s`
      const next = 'power-cycle the drive, then open it again'
      throw new DriverError('ERR_GPUNVME_FUNCTION_RESET', 'device', headline, { next })
    }
    // In small steps and with a turn of the event loop: a virtual clock could otherwise pass the deadline before the
    // reset runs.
    await clock.idle(Math.min(deadlineNs, clock.now() + NS_PER_MS))
    await nextTurn()
  }
  const ended = current()
  if (typeof ended === 'object') throw ended.error
}
