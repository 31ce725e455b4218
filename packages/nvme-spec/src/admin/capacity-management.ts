import { adminCommand, bits, cdw, word32 } from '../layout/index.js'

/** Creates and deletes Endurance Groups and NVM Sets (Base 2.1 §5.1.3, Figures 156 to 158). */
export const CapacityManagement = adminCommand(
  'Capacity Management',
  { opcode: 0x20, doc: 'Manages capacity', spec: 'Base 2.1 §5.1.3' },
  {
    OPER: cdw(10, 3, 0, 'Operation', {
      SELECT_CAPACITY_CONFIGURATION: 0,
      CREATE_ENDURANCE_GROUP: 1,
      DELETE_ENDURANCE_GROUP: 2,
      CREATE_NVM_SET: 3,
      DELETE_NVM_SET: 4,
    }),
    ELID: cdw(10, 31, 16, 'Element Identifier'),
    CAPL: cdw(11, 31, 0, 'Capacity Lower: bits 31:0 of the bytes'),
    CAPU: cdw(12, 31, 0, 'Capacity Upper: bits 63:32 of the bytes'),
  },
)

/** Dword 0 of the completion of a create operation (Base 2.1 §5.1.3.4, Figure 160). */
export const CapacityManagementDw0 = word32(
  'Capacity Management.DW0',
  { doc: 'Identifier of the created element', spec: 'Base 2.1 §5.1.3.4' },
  { CELID: bits(15, 0, 'Created Element Identifier') },
)
