import { codes } from '../layout/codes.js'

/** Opcodes of the NVM Command Set, including those common to all I/O command sets (NVM 1.2 §3.3, Figure 21). */
export const NVM_OPCODE = codes(
  'NVM_OPCODE',
  { doc: 'Opcodes of the NVM Command Set', spec: 'NVM 1.2 §3.3' },
  {
    FLUSH: 0x00,
    WRITE: 0x01,
    READ: 0x02,
    WRITE_UNCORRECTABLE: 0x04,
    COMPARE: 0x05,
    WRITE_ZEROES: 0x08,
    DATASET_MANAGEMENT: 0x09,
    VERIFY: 0x0c,
    RESERVATION_REGISTER: 0x0d,
    RESERVATION_REPORT: 0x0e,
    RESERVATION_ACQUIRE: 0x11,
    IO_MANAGEMENT_RECEIVE: 0x12,
    RESERVATION_RELEASE: 0x15,
    CANCEL: 0x18,
    COPY: 0x19,
    IO_MANAGEMENT_SEND: 0x1d,
  },
)
