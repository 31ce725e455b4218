import { adminCommand, cdw, cdwBit, cdwCount, codes } from '../layout/index.js'

/**
 * Opcodes of the Admin Command Set (Base 2.1 §5, Figure 141), including those of transports and I/O command sets. C0h
 * to FFh are vendor specific, all others not listed are reserved.
 */
export const ADMIN_OPCODE = codes(
  'ADMIN_OPCODE',
  { doc: 'Opcodes of the Admin Command Set', spec: 'Base 2.1 §5' },
  {
    DELETE_IO_SQ: 0x00,
    CREATE_IO_SQ: 0x01,
    GET_LOG_PAGE: 0x02,
    DELETE_IO_CQ: 0x04,
    CREATE_IO_CQ: 0x05,
    IDENTIFY: 0x06,
    ABORT: 0x08,
    SET_FEATURES: 0x09,
    GET_FEATURES: 0x0a,
    ASYNCHRONOUS_EVENT_REQUEST: 0x0c,
    NAMESPACE_MANAGEMENT: 0x0d,
    FIRMWARE_COMMIT: 0x10,
    FIRMWARE_IMAGE_DOWNLOAD: 0x11,
    DEVICE_SELF_TEST: 0x14,
    NAMESPACE_ATTACHMENT: 0x15,
    KEEP_ALIVE: 0x18,
    DIRECTIVE_SEND: 0x19,
    DIRECTIVE_RECEIVE: 0x1a,
    VIRTUALIZATION_MANAGEMENT: 0x1c,
    NVME_MI_SEND: 0x1d,
    NVME_MI_RECEIVE: 0x1e,
    CAPACITY_MANAGEMENT: 0x20,
    DISCOVERY_INFORMATION_MANAGEMENT: 0x21,
    FABRIC_ZONING_RECEIVE: 0x22,
    LOCKDOWN: 0x24,
    FABRIC_ZONING_LOOKUP: 0x25,
    CLEAR_EXPORTED_NVM_RESOURCE_CONFIGURATION: 0x28,
    FABRIC_ZONING_SEND: 0x29,
    CREATE_EXPORTED_NVM_SUBSYSTEM: 0x2a,
    MANAGE_EXPORTED_NVM_SUBSYSTEM: 0x2d,
    MANAGE_EXPORTED_NAMESPACE: 0x31,
    MANAGE_EXPORTED_PORT: 0x35,
    SEND_DISCOVERY_LOG_PAGE: 0x39,
    TRACK_SEND: 0x3d,
    TRACK_RECEIVE: 0x3e,
    MIGRATION_SEND: 0x41,
    MIGRATION_RECEIVE: 0x42,
    CONTROLLER_DATA_QUEUE: 0x45,
    DOORBELL_BUFFER_CONFIG: 0x7c,
    FABRICS: 0x7f,
    FORMAT_NVM: 0x80,
    SECURITY_SEND: 0x81,
    SECURITY_RECEIVE: 0x82,
    SANITIZE: 0x84,
    LOAD_PROGRAM: 0x85,
    GET_LBA_STATUS: 0x86,
    PROGRAM_ACTIVATION_MANAGEMENT: 0x88,
    MEMORY_RANGE_SET_MANAGEMENT: 0x89,
  },
)

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

/**
 * Gives an emulated controller two pages: the Shadow Doorbell buffer at PRP1, written by the host, and the EventIdx
 * buffer at PRP2, written by the controller (Base 2.1 §5.2.5, Figures 487 and 488).
 */
export const DoorbellBufferConfig = adminCommand(
  'Doorbell Buffer Config',
  { opcode: 0x7c, doc: 'Sets the shadow doorbell buffers', spec: 'Base 2.1 §5.2.5' },
  {},
)

/** Restarts the Keep Alive Timer; it has no fields of its own (Base 2.1 §5.1.14). */
export const KeepAlive = adminCommand(
  'Keep Alive',
  { opcode: 0x18, doc: 'Restarts the Keep Alive Timer', spec: 'Base 2.1 §5.1.14' },
  {},
)
