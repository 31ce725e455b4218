import { statusRow, statusTable } from '../status.js'

const fabrics = /*#__PURE__*/ statusRow(1, ['fabrics'])

/**
 * Command specific statuses (SCT 1h) of NVMe over Fabrics (Base 2.2 Figure 105). I/O command sets use the same numbers;
 * only the command tells them apart. PCIe controllers return none of these, so `formatStatus` and the others use STATUS
 * unless they are passed this table.
 */
export const FABRICS_STATUS = /*#__PURE__*/ statusTable(() => ({
  INCOMPATIBLE_FORMAT: fabrics(0x80),
  CONTROLLER_BUSY: fabrics(0x81, { retry: 'later' }),
  CONNECT_INVALID_PARAMETERS: fabrics(0x82),
  CONNECT_RESTART_DISCOVERY: fabrics(0x83),
  CONNECT_INVALID_HOST: fabrics(0x84),
  INVALID_QUEUE_TYPE: fabrics(0x85),
  // Returned by Get Log Page
  DISCOVER_RESTART: fabrics(0x90, { returnedBy: ['admin'], retry: 'same' }),
  // Returned by all commands other than Connect, Authentication Send and Authentication Receive
  AUTHENTICATION_REQUIRED: fabrics(0x91, { returnedBy: ['any'] }),
}))
