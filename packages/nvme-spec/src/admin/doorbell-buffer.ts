import { adminCommand } from '../layout/command.js'

/**
 * Gives an emulated controller two pages: the Shadow Doorbell buffer at PRP1, written by the host, and the EventIdx
 * buffer at PRP2, written by the controller (Base 2.1 §5.2.5, Figures 487 and 488).
 */
export const DoorbellBufferConfig = adminCommand(
  'Doorbell Buffer Config',
  { opcode: 0x7c, doc: 'Sets the shadow doorbell buffers', spec: 'Base 2.1 §5.2.5' },
  {},
)
