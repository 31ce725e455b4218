import { CC } from '@gpunvme/nvme-spec'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import { ALL_ONES } from '../bring-up/device-lost.js'
import { ControllerNotReadyError, disable, readLimits } from '../bring-up/ready.js'
import { Registers } from '../bring-up/registers.js'

/**
 * Disables a controller that is found enabled, before its function may reach memory: its queues are those of a process
 * that is gone, and what it does for them it would do to memory that is somebody else's by now.
 * @param reset of the function, tried where the controller does not stop in the time that it states.
 * @throws ControllerNotReadyError where it does not stop; what `readLimits` throws of a controller that cannot be used.
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
    if (!(error instanceof ControllerNotReadyError) || reset === undefined) throw error
    await reset()
  }
}
