import { nvmCommand } from '../layout/command.js'

/** Commits data and metadata of a namespace, with NSID FFFFFFFFh of all, to non-volatile media (Base 2.1 §7.2). */
export const Flush = nvmCommand(
  'Flush',
  { opcode: 0x00, doc: 'Commits data and metadata to non-volatile media', spec: 'Base 2.1 §7.2' },
  {},
)
