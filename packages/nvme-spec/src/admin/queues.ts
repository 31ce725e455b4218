import { adminCommand, cdw, cdwBit, cdwCount } from '../layout/command.js'

/**
 * Creates an I/O completion queue of QSIZE entries, 0's based, at PRP1. Create it before the submission queues that
 * complete to it. The rows are those of Linux's `nvme_create_cq`; of Base 2.1 §5.2.1 only the titles of its figures
 * were read.
 */
export const CreateIoCq = adminCommand(
  'Create I/O Completion Queue',
  {
    opcode: 0x05,
    doc: 'Creates a completion queue',
    spec: 'Linux 6.1 linux/nvme.h nvme_create_cq',
  },
  {
    QID: cdw(10, 15, 0, 'Queue Identifier'),
    QSIZE: cdwCount(10, 31, 16, 'Queue Size'),
    PC: cdwBit(11, 0, 'Physically Contiguous'),
    IEN: cdwBit(11, 1, 'Interrupts Enabled'),
    IV: cdw(11, 31, 16, 'Interrupt Vector'),
  },
)

/**
 * Creates an I/O submission queue of QSIZE entries, 0's based, at PRP1. The rows are those of Linux's `nvme_create_sq`,
 * except NVMSETID, which is in no header that was read; of Base 2.1 §5.2.2 only the titles of its figures were read.
 */
export const CreateIoSq = adminCommand(
  'Create I/O Submission Queue',
  {
    opcode: 0x01,
    doc: 'Creates a submission queue',
    spec: 'Linux 6.1 linux/nvme.h nvme_create_sq',
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

/**
 * Deletes an I/O completion queue. Delete its submission queues first (Linux's `nvme_delete_queue`; Base 2.1 §5.2.3 by
 * its figures' titles).
 */
export const DeleteIoCq = adminCommand(
  'Delete I/O Completion Queue',
  {
    opcode: 0x04,
    doc: 'Deletes a completion queue',
    spec: 'Linux 6.1 linux/nvme.h nvme_delete_queue',
  },
  { QID: cdw(10, 15, 0, 'Queue Identifier') },
)

/**
 * Deletes an I/O submission queue; its outstanding commands complete or are aborted first (Linux's `nvme_delete_queue`;
 * Base 2.1 §5.2.4 by its figures' titles).
 */
export const DeleteIoSq = adminCommand(
  'Delete I/O Submission Queue',
  {
    opcode: 0x00,
    doc: 'Deletes a submission queue',
    spec: 'Linux 6.1 linux/nvme.h nvme_delete_queue',
  },
  { QID: cdw(10, 15, 0, 'Queue Identifier') },
)
