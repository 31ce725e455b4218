import { EngineFailedError } from '@gpunvme/nvme-spec/engine'
import { DriverError } from '../error.js'
import { DeviceLostError } from './device-lost.js'
import type { CommandQueue } from './command-queue.js'
import { CommandTimeoutError } from './errors.js'

type Send = (queue: CommandQueue) => Promise<number>

/**
 * Sends a command that changes something through `once`, and reports a lost completion as an unknown outcome.
 * @param describe returns what is then unknown, and the next step.
 * @throws DriverError (UNKNOWN_FATE); errors of `once`.
 */
export async function sendChange(
  once: (run: Send) => Promise<number>,
  command: string,
  run: Send,
  describe: () => { readonly facts: readonly string[]; readonly next: string },
): Promise<number> {
  const sent = { yet: false }
  try {
    return await once((queue) => {
      sent.yet = true
      return run(queue)
    })
  } catch (error) {
    const isLost =
      error instanceof CommandTimeoutError || error instanceof DeviceLostError || error instanceof EngineFailedError
    // The controller was lost before the command was sent.
    if (!isLost || !sent.yet) throw error
    // It may have been executed completely, in part or not at all.
    const headline = `${command} got no completion; whether it was executed is unknown`
    throw new DriverError('ERR_GPUNVME_UNKNOWN_FATE', 'device', headline, { ...describe(), cause: error })
  }
}
