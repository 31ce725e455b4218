import { nvmCommand } from '../layout/command.js'

export const Flush = nvmCommand(
  'Flush',
  { opcode: 0x00, doc: 'Commits data and metadata of a namespace to non-volatile media', spec: 'Base 2.1 §7.2' },
  {},
)
