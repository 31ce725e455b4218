import { bits, bytes, struct, u8 } from '../layout/index.js'

/** Command and Feature Lockdown (LID 14h; Base 2.1 §5.1.12.1.20, Figure 266). */
export const LockdownLog = struct(
  'Command and Feature Lockdown',
  { bytes: 512, doc: 'The log page (LID 14h)', spec: 'Base 2.1 §5.1.12.1.20' },
  {
    CFILA: u8(0, 'Command and Feature Identifier List Attributes', {
      SS: bits(3, 0, 'Scope Selected', { ADMIN_OPCODE: 0, FEATURE: 2, MANAGEMENT_OPCODE: 3, PCIE_OPCODE: 4 }),
      CS: bits(5, 4, 'Contents Selected', { CAN_BE_PROHIBITED: 0, PROHIBITED: 1, PROHIBITED_OUT_OF_BAND: 2 }),
    }),
    LNGTH: u8(3, 'Length of the list in bytes'),
    CFIL: bytes(4, 508, 'Opcodes or Feature Identifiers, increasing'),
  },
)
