import { GpuNvmeError } from '@gpunvme/nvme-spec'
import { DeviceLostError } from './device-lost.js'
import type { CommandQueue } from './command-queue.js'
import { CommandTimeoutError } from './errors.js'

type Send = (queue: CommandQueue) => Promise<number>

/**
 * Sends a command that changes something through `once`, and reports a lost completion as UnknownFateError.
 * @param tell describes what is then unknown, and the next step.
 * @throws UnknownFateError; errors of `once`.
 */
export async function sendChange(
  once: (run: Send) => Promise<number>,
  command: string,
  run: Send,
  tell: () => { readonly facts: readonly string[]; readonly next: string },
): Promise<number> {
  const sent = { yet: false }
  try {
    return await once((queue) => {
      sent.yet = true
      return run(queue)
    })
  } catch (error) {
    const isLost = error instanceof CommandTimeoutError || error instanceof DeviceLostError
    // The controller was lost before the command was sent.
    if (!isLost || !sent.yet) throw error
    throw new UnknownFateError(command, { ...tell(), cause: error })
  }
}

/** A command that changes something got no completion. It may have been executed completely, in part or not at all. */
export class UnknownFateError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_UNKNOWN_FATE'
  readonly category = 'device'
  constructor(
    command: string,
    details: { readonly facts: readonly string[]; readonly next: string; readonly cause: unknown },
  ) {
    super(`${command} got no completion; whether it was executed is unknown`, details)
  }
}
