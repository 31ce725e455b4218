import type { Retry, StatusCode } from './status.js'

const from = ['fabrics'] as const

const fabrics = (sc: number, name: string, retry: Retry = 'never'): StatusCode =>
  Object.freeze({ sct: 1, sc, name, from, retry })

/**
 * The command specific statuses (SCT 1h) of Fabrics commands (Base 2.2 Figure 105). Their numbers are those of I/O
 * command sets too: which of both is meant, only the command says. A PCIe controller returns none of these, so
 * `formatStatus` and the like take STATUS unless they are given this table.
 */
export const FABRICS_STATUS = Object.freeze({
  INCOMPATIBLE_FORMAT: fabrics(0x80, 'Incompatible Format'),
  CONTROLLER_BUSY: fabrics(0x81, 'Controller Busy', 'later'),
  CONNECT_INVALID_PARAMETERS: fabrics(0x82, 'Connect Invalid Parameters'),
  CONNECT_RESTART_DISCOVERY: fabrics(0x83, 'Connect Restart Discovery'),
  CONNECT_INVALID_HOST: fabrics(0x84, 'Connect Invalid Host'),
  INVALID_QUEUE_TYPE: fabrics(0x85, 'Invalid Queue Type'),
  DISCOVER_RESTART: fabrics(0x90, 'Discover Restart', 'same'),
  AUTHENTICATION_REQUIRED: fabrics(0x91, 'Authentication Required'),
})
