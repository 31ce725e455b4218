import { adminCommand, cdw } from '../layout/command.js'

export const Abort = adminCommand(
  'Abort',
  {
    opcode: 0x08,
    doc: 'Asks for a command to be aborted; bit 0 of DW0 is 1 where it was not',
    spec: 'Base 2.1 §5.1.1',
  },
  {
    SQID: cdw(10, 15, 0, 'Submission Queue Identifier'),
    ABORTED_CID: cdw(10, 31, 16, 'Command Identifier'),
  },
)

export const AsyncEventRequest = adminCommand(
  'Asynchronous Event Request',
  { opcode: 0x0c, doc: 'Held by the controller until it has an event to report', spec: 'Base 2.1 §5.1.2' },
  {},
)
