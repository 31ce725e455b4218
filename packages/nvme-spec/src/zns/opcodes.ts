import { codes } from '../layout/codes.js'

/** Opcodes that the Zoned Namespace Command Set adds to those of `NVM_OPCODE` (ZNS 1.1 §3.2, Figure 12). */
export const ZNS_OPCODE = codes(
  'ZNS_OPCODE',
  { doc: 'Opcodes of the Zoned Namespace Command Set', spec: 'ZNS 1.1 §3.2' },
  { ZONE_MANAGEMENT_SEND: 0x79, ZONE_MANAGEMENT_RECEIVE: 0x7a, ZONE_APPEND: 0x7d },
)
