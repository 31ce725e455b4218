import { adminCommand } from '../layout/command.js'

/**
 * Gives a para-virtualized controller two pages: PRP1 points to the Shadow Doorbell buffer, which the host writes, PRP2
 * to the EventIdx buffer, which the controller writes (Base 2.1 §5.2.5, Figures 487 and 488).
 */
export const DoorbellBufferConfig = adminCommand(
  'Doorbell Buffer Config',
  { opcode: 0x7c, doc: 'Sets the buffers of shadow doorbells', spec: 'Base 2.1 §5.2.5' },
  {},
)
