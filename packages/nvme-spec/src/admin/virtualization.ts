import { adminCommand, cdw } from '../layout/command.js'

/** Assigns flexible resources and sets secondary controllers online or offline (Base 2.1 §5.2.6, Figures 489, 490). */
export const VirtualizationManagement = adminCommand(
  'Virtualization Management',
  { opcode: 0x1c, doc: 'Manages controller resources', spec: 'Base 2.1 §5.2.6' },
  {
    ACT: cdw(10, 3, 0, 'Action', {
      PRIMARY_FLEXIBLE_ALLOCATION: 0x1,
      SECONDARY_OFFLINE: 0x7,
      SECONDARY_ASSIGN: 0x8,
      SECONDARY_ONLINE: 0x9,
    }),
    RT: cdw(10, 10, 8, 'Resource Type', { VQ: 0, VI: 1 }),
    CNTLID: cdw(10, 31, 16, 'Controller Identifier'),
    NR: cdw(11, 15, 0, 'Number of Controller Resources'),
  },
)
