import { nvmCommand } from '../layout/command.js'

/**
 * Commits data and metadata of a namespace to non-volatile media; NSID FFFFFFFFh for all namespaces (Base 2.1 §7.2).
 */
export const Flush = nvmCommand(
  'Flush',
  { opcode: 0x00, doc: 'Commits data and metadata to non-volatile media', spec: 'Base 2.1 §7.2' },
  {},
)
