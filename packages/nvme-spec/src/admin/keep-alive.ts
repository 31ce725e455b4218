import { adminCommand } from '../layout/command.js'

/** Restarts the Keep Alive Timer; it has no fields of its own (Base 2.1 §5.1.14). */
export const KeepAlive = adminCommand(
  'Keep Alive',
  { opcode: 0x18, doc: 'Restarts the Keep Alive Timer', spec: 'Base 2.1 §5.1.14' },
  {},
)
