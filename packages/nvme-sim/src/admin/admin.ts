import {
  Abort,
  AsyncEventRequest,
  CreateIoCq,
  CreateIoSq,
  DeleteIoCq,
  DeleteIoSq,
  DoorbellBufferConfig,
  FormatNvm,
  GetFeatures,
  GetLogPage,
  Identify,
  NamespaceAttachment,
  NamespaceManagement,
  SetFeatures,
  STATUS,
} from '@gpunvme/nvme-spec'
import type { CommandsUnderWay, Result, ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import { getFeatures, setFeatures } from '../features/commands.js'
import { getLogPage } from '../logs/get-log-page.js'
import type { SupportedCommands } from '../logs/supported.js'
import { ioCommands } from '../nvm/nvm.js'
import { abort } from './abort.js'
import type { AdminCommand } from './admin-command.js'
import { formatNvm } from './format.js'
import { configureDoorbellBuffer } from './doorbell-buffer.js'
import { identify } from './identify.js'
import { attachNamespace } from './namespace-attachment.js'
import { manageNamespace } from './namespace-management.js'
import { createCq, createSq, deleteCq, deleteSq } from './queues.js'

/** The Admin commands by opcode; all others fail with Invalid Command Opcode. */
export const adminCommands: ReadonlyMap<number, AdminCommand> = new Map<number, AdminCommand>([
  [DeleteIoSq.opcode, { perform: deleteSq }],
  [CreateIoSq.opcode, { perform: createSq }],
  [GetLogPage.opcode, { perform: (command, device) => getLogPage(command, device, supported) }],
  [DeleteIoCq.opcode, { perform: deleteCq }],
  [CreateIoCq.opcode, { perform: createCq }],
  [Identify.opcode, { perform: (command, device) => identify(command, device, supported) }],
  [Abort.opcode, abort],
  [SetFeatures.opcode, { perform: setFeatures }],
  [GetFeatures.opcode, { perform: getFeatures }],
  [AsyncEventRequest.opcode, { perform: holdEventRequest }],
  [DoorbellBufferConfig.opcode, { perform: configureDoorbellBuffer }],
  [NamespaceManagement.opcode, { effects: { NIC: 1 }, perform: manageNamespace }],
  [NamespaceAttachment.opcode, { effects: { NIC: 1 }, perform: attachNamespace }],
  [FormatNvm.opcode, { effects: { LBCC: 1, NCC: 1, CSE: 1 }, perform: formatNvm }],
])

/** Identify and the log pages report support according to these tables. */
const supported: SupportedCommands = { admin: adminCommands, io: ioCommands }

/** Executes an Admin command. */
export function performAdmin(command: ServedCommand, device: Device, commands: CommandsUnderWay): Result {
  return adminCommands.get(command.sqe.OPC)?.perform(command, device, commands) ?? STATUS.INVALID_COMMAND_OPCODE
}

function holdEventRequest({ sqe }: ServedCommand, { events }: Device): Result {
  return events.request(sqe.CID) ? 'held' : STATUS.ASYNCHRONOUS_EVENT_REQUEST_LIMIT_EXCEEDED
}
