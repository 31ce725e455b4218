// Maps linux/nvme_ioctl.h of Linux 6.1: passthrough commands have the layout of a submission queue entry except for the
// data pointer.
import type { Struct, Table } from '../table.js'

const entry = (more: Struct['absent'] = {}): Struct => ({
  ours: 'sqe',
  names: { opcode: 'opc', flags: 'bits_1', rsvd1: 'cid', metadata: 'mptr', addr: 'prp1' },
  absent: {
    'addresses and lengths of the process replace the data pointer, followed by results of the kernel': [
      ...['sizeof', 'metadata_len', 'data_len', 'timeout_ms'],
    ],
    ...more,
  },
})

const RESULT = 'results of the kernel'

export const UAPI: Table = {
  numbers: {},
  structs: {
    nvme_user_io: 'a read or write in a form of the kernel, not of an entry',
    nvme_passthru_cmd: entry({ [RESULT]: ['result'] }),
    nvme_passthru_cmd64: entry({ [RESULT]: ['result'], 'another name of data_len': ['vec_cnt'] }),
    nvme_uring_cmd: entry(),
  },
}
