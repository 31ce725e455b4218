import { adminCommand, cdw } from '../layout/command.js'

// The rows are in the NVMe Management Interface specification, which was not read: the dwords are raw.
const management = {
  CDW10: cdw(10, 31, 0, 'NVMe-MI specific'),
  CDW11: cdw(11, 31, 0, 'NVMe-MI specific'),
  CDW12: cdw(12, 31, 0, 'NVMe-MI specific'),
  CDW13: cdw(13, 31, 0, 'NVMe-MI specific'),
  CDW14: cdw(14, 31, 0, 'NVMe-MI specific'),
  CDW15: cdw(15, 31, 0, 'NVMe-MI specific'),
}

/** Sends an in-band management command, as raw dwords (Base 2.1 §5.1.19). */
export const NvmeMiSend = adminCommand(
  'NVMe-MI Send',
  { opcode: 0x1d, doc: 'Sends an in-band management command', spec: 'Base 2.1 §5.1.19' },
  management,
)

/** Returns data of an in-band management command, selected by raw dwords (Base 2.1 §5.1.18). */
export const NvmeMiReceive = adminCommand(
  'NVMe-MI Receive',
  { opcode: 0x1e, doc: 'Returns data of an in-band management command', spec: 'Base 2.1 §5.1.18' },
  management,
)
