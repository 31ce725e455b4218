// linux/nvme_ioctl.h of Linux 6.1: how programs hand commands to the kernel, which has the places of an entry but for
// the data pointer.
import type { Struct, Table } from '../table.js'

const entry = (more: Struct['absent'] = {}): Struct => ({
  ours: 'sqe',
  names: { opcode: 'opc', flags: 'bits_1', rsvd1: 'cid', metadata: 'mptr', addr: 'prp1' },
  absent: {
    'addresses and lengths of the process stand in place of the data pointer, and what the kernel answers follows': [
      ...['sizeof', 'metadata_len', 'data_len', 'timeout_ms'],
    ],
    ...more,
  },
})

const RESULT = 'the answer of the kernel'

export const UAPI: Table = {
  numbers: {},
  structs: {
    nvme_user_io: 'a read or write in terms of the kernel, not of an entry',
    nvme_passthru_cmd: entry({ [RESULT]: ['result'] }),
    nvme_passthru_cmd64: entry({ [RESULT]: ['result'], 'another word for data_len': ['vec_cnt'] }),
    nvme_uring_cmd: entry(),
  },
}
