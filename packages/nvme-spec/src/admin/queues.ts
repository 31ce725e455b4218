import { adminCommand, cdw, cdwBit, cdwCount } from '../layout/command.js'

export const CreateIoCq = adminCommand(
  'Create I/O Completion Queue',
  {
    opcode: 0x05,
    doc: 'Creates a completion queue; before the submission queues that complete to it',
    spec: 'Base 2.1 §5.2.1',
  },
  {
    QID: cdw(10, 15, 0, 'Queue Identifier'),
    QSIZE: cdwCount(10, 31, 16, 'Queue Size'),
    PC: cdwBit(11, 0, 'Physically Contiguous'),
    IEN: cdwBit(11, 1, 'Interrupts Enabled'),
    IV: cdw(11, 31, 16, 'Interrupt Vector'),
  },
)

export const CreateIoSq = adminCommand(
  'Create I/O Submission Queue',
  {
    opcode: 0x01,
    doc: 'Creates a submission queue that completes to an existing completion queue',
    spec: 'Base 2.1 §5.2.2',
  },
  {
    QID: cdw(10, 15, 0, 'Queue Identifier'),
    QSIZE: cdwCount(10, 31, 16, 'Queue Size'),
    PC: cdwBit(11, 0, 'Physically Contiguous'),
    QPRIO: cdw(11, 2, 1, 'Queue Priority', { URGENT: 0, HIGH: 1, MEDIUM: 2, LOW: 3 }),
    CQID: cdw(11, 31, 16, 'Completion Queue Identifier'),
    NVMSETID: cdw(12, 15, 0, 'NVM Set Identifier'),
  },
)

export const DeleteIoCq = adminCommand(
  'Delete I/O Completion Queue',
  {
    opcode: 0x04,
    doc: 'Deletes a completion queue; after the submission queues that complete to it',
    spec: 'Base 2.1 §5.2.3',
  },
  { QID: cdw(10, 15, 0, 'Queue Identifier') },
)

export const DeleteIoSq = adminCommand(
  'Delete I/O Submission Queue',
  {
    opcode: 0x00,
    doc: 'Deletes a submission queue; its outstanding commands complete or abort first',
    spec: 'Base 2.1 §5.2.4',
  },
  { QID: cdw(10, 15, 0, 'Queue Identifier') },
)
