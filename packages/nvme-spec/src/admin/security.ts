import { adminCommand, cdw } from '../layout/command.js'

const securityProtocol = {
  NSSF: cdw(10, 7, 0, 'NVMe Security Specific Field'),
  SPSP0: cdw(10, 15, 8, 'Security Protocol Specific, bits 7:0'),
  SPSP1: cdw(10, 23, 16, 'Security Protocol Specific, bits 15:8'),
  SECP: cdw(10, 31, 24, 'Security Protocol'),
}

/** Transfers data of a security protocol to the controller (Base 2.1 §5.1.24, Figures 380 and 381). */
export const SecuritySend = adminCommand(
  'Security Send',
  { opcode: 0x81, doc: 'Sends data of a security protocol', spec: 'Base 2.1 §5.1.24' },
  { ...securityProtocol, TL: cdw(11, 31, 0, 'Transfer Length in bytes') },
)

/** Returns status and data of earlier Security Send commands (Base 2.1 §5.1.23, Figures 376 and 377). */
export const SecurityReceive = adminCommand(
  'Security Receive',
  { opcode: 0x82, doc: 'Returns data of a security protocol', spec: 'Base 2.1 §5.1.23' },
  { ...securityProtocol, AL: cdw(11, 31, 0, 'Allocation Length in bytes') },
)
