import { CC } from '@gpunvme/nvme-spec'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import { ALL_ONES } from '../commands/device-lost.js'
import { disable, readLimits } from '../bring-up/ready.js'
import { hasCode } from '../error.js'
import { Registers } from '../bring-up/registers.js'

/**
 * Disables a controller that is found enabled, before its function may access memory: its queues are those of a process
 * that has ended, and their memory may be in use elsewhere.
 * @param reset of the function, tried if the controller does not stop in its own time limit.
 * @throws DriverError (NOT_READY) if it does not stop; errors of `readLimits` for an unsupported controller.
 */
export async function disableFound(
  transport: Pick<Transport, 'name' | 'bar' | 'clock' | 'config'>,
  reset: (() => Promise<void>) | undefined,
): Promise<void> {
  const registers = new Registers(transport.bar)
  const configuration = registers.read(CC)
  if (configuration === ALL_ONES || CC.EN.of(configuration) === 0) return
  try {
    await disable(registers, transport, readLimits(registers, transport))
  } catch (error) {
    if (!hasCode(error, 'ERR_GPUNVME_NOT_READY') || reset === undefined) throw error
    await reset()
  }
}
