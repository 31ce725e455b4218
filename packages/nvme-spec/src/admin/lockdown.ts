import { adminCommand, cdw, cdwBit } from '../layout/command.js'

/** Prohibits or allows a command or feature, by interface (Base 2.1 §5.1.15, Figures 337 and 338). */
export const Lockdown = adminCommand(
  'Lockdown',
  { opcode: 0x24, doc: 'Prohibits or allows a command or feature', spec: 'Base 2.1 §5.1.15' },
  {
    SCP: cdw(10, 3, 0, 'Scope', { ADMIN_OPCODE: 0, FEATURE: 2, MANAGEMENT_OPCODE: 3, PCIE_OPCODE: 4 }),
    PRHBT: cdwBit(10, 4, 'Prohibit'),
    IFC: cdw(10, 6, 5, 'Interface', { ADMIN_QUEUE: 0, ADMIN_QUEUE_AND_ENDPOINT: 1, ENDPOINT: 2 }),
    OFI: cdw(10, 15, 8, 'Opcode or Feature Identifier'),
    UIDX: cdw(14, 6, 0, 'UUID Index'),
  },
)
