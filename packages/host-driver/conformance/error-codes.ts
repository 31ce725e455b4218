/** Error codes that cases expect, and their conditions. docs/driver-cases.md has a table with the same rows. */
export const ERROR_CODES = {
  ERR_GPUNVME_NOT_READY: '`open`: CSTS.RDY does not follow CC.EN in time, or CSTS.CFS is set meanwhile',
  ERR_GPUNVME_UNSUPPORTED_CONTROLLER: '`open`: CAP or Identify Controller rules the controller out',
  ERR_GPUNVME_SERIAL_MISMATCH: '`open`: `write.serial` is not the serial number of the controller',
  ERR_GPUNVME_CONTROLLER_IN_USE: '`open`: another handle is open on this transport, or on one that wraps it',
  ERR_GPUNVME_DEVICE_LOST: '`open`: registers read all ones; any call after the controller was lost',
  ERR_GPUNVME_COMMAND: 'a command outside plans, or one of `open`, ends with an error status',
  ERR_GPUNVME_COMMAND_TIMEOUT: 'a command outside plans, or one of `open`, gets no completion in time',
  ERR_GPUNVME_BLOCK_COMMAND: '`writeZeroes`: one of its commands ends with an error status',
  ERR_GPUNVME_TRANSFER: '`read`, `write`: a command fails, or gets no completion',
  ERR_GPUNVME_LBA_RANGE: 'blocks beyond the end of the namespace',
  ERR_GPUNVME_NAMESPACE_NOT_FOUND: '`namespace`: no active namespace has the NSID',
  ERR_GPUNVME_UNSUPPORTED_NAMESPACE: 'the namespace has metadata, or is no longer attached',
  ERR_GPUNVME_FOREIGN_DATA:
    '`write`: foreign data that `overwrite` does not name; the field `found` lists each item with its `name`',
  ERR_GPUNVME_CONTROLLER_CLOSED: 'the controller is closed',
  ERR_GPUNVME_SHUTDOWN_INCOMPLETE: '`close`: CSTS.SHST does not become 10b in time',
} as const

/** Code of an error that cases expect. */
export type ErrorCode = keyof typeof ERROR_CODES
