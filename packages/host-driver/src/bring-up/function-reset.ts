import { nextTurn } from '@gpunvme/nvme-spec/runtime'
import { GpuNvmeError } from '@gpunvme/nvme-spec'
import { NS_PER_MS } from '../wait.js'
import type { OwnTransport } from './own-transport.js'

/** A function answers 100 ms after it was reset, and a slow one within a second (PCIe: configuration retries). */
export const FUNCTION_RESET_NS = 2_000 * NS_PER_MS

/**
 * Resets the function. A transport whose reset does not end is not waited for.
 * @throws FunctionResetError; whatever the transport throws.
 */
export async function resetFunction({ whole, clock, name }: OwnTransport): Promise<void> {
  const deadlineNs = clock.now() + FUNCTION_RESET_NS
  let outcome: 'pending' | 'done' | { readonly error: unknown } = 'pending'
  const settle = (value: typeof outcome) => {
    outcome = value
  }
  whole.reset!('function').then(
    () => settle('done'),
    (error: unknown) => settle({ error }),
  )
  const current = () => outcome
  while (current() === 'pending') {
    if (clock.now() >= deadlineNs) throw new FunctionResetError(name)
    // In small steps, and with a turn for whoever resets: a clock that is not the machine's own would pass it by.
    await clock.idle(Math.min(deadlineNs, clock.now() + NS_PER_MS))
    await nextTurn()
  }
  const ended = current()
  if (typeof ended === 'object') throw ended.error
}

/** The transport did not end a reset of the function. */
export class FunctionResetError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_FUNCTION_RESET'
  readonly category = 'device'
  constructor(name: string) {
    super(`The reset of function ${name} did not end in ${FUNCTION_RESET_NS / 1e9} s`, {
      next: 'power-cycle the drive, then open it again',
    })
  }
}
