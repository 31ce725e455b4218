import { GpuNvmeError } from '@gpunvme/nvme-spec'
import { DeviceLostError } from '../bring-up/device-lost.js'
import type { CommandQueue } from './command-queue.js'
import { CommandTimeoutError } from './command-queue.js'

type Send = (queue: CommandQueue) => Promise<number>

/**
 * Sends a command that changes something through `once`, and says of one whose completion was lost that nobody knows.
 * @param tell what is not known then, and what to do about it.
 * @throws UnknownFateError; whatever else `once` throws.
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
    // A controller that was lost while the command waited for its turn did not get it.
    if (!isLost || !sent.yet) throw error
    throw new UnknownFateError(command, { ...tell(), cause: error })
  }
}

/** A command that changes something was sent and got no completion. It may have happened, in part even, or not. */
export class UnknownFateError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_UNKNOWN_FATE'
  readonly category = 'device'
  constructor(
    command: string,
    details: { readonly facts: readonly string[]; readonly next: string; readonly cause: unknown },
  ) {
    super(`${command} got no completion, and whether it was carried out is not known`, details)
  }
}
