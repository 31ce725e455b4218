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
  [DeleteIoSq.opcode, { usesNsid: false, perform: deleteSq }],
  [CreateIoSq.opcode, { usesNsid: false, perform: createSq }],
  [GetLogPage.opcode, { perform: (command, device) => getLogPage(command, device, supported) }],
  [DeleteIoCq.opcode, { usesNsid: false, perform: deleteCq }],
  [CreateIoCq.opcode, { usesNsid: false, perform: createCq }],
  [Identify.opcode, { perform: (command, device) => identify(command, device, supported) }],
  [Abort.opcode, abort],
  [SetFeatures.opcode, { perform: setFeatures }],
  [GetFeatures.opcode, { perform: getFeatures }],
  [AsyncEventRequest.opcode, { usesNsid: false, perform: holdEventRequest }],
  [DoorbellBufferConfig.opcode, { usesNsid: false, perform: configureDoorbellBuffer }],
  [NamespaceManagement.opcode, { effects: { NIC: 1 }, perform: manageNamespace }],
  [NamespaceAttachment.opcode, { effects: { NIC: 1 }, perform: attachNamespace }],
  [FormatNvm.opcode, { effects: { LBCC: 1, NCC: 1, CSE: 1 }, perform: formatNvm }],
])

/** Identify and the log pages report support according to these tables. */
const supported: SupportedCommands = { admin: adminCommands, io: ioCommands }

/** Executes an Admin command. A nonzero NSID is rejected if the command does not use it (Base 2.2 §4.1.1, Fig. 92). */
export function performAdmin(command: ServedCommand, device: Device, commands: CommandsUnderWay): Result {
  const { OPC, NSID } = command.sqe
  const implementation = adminCommands.get(OPC)
  if (implementation === undefined) return STATUS.INVALID_COMMAND_OPCODE
  if (implementation.usesNsid === false && NSID !== 0) return command.invalidField(4)
  return implementation.perform(command, device, commands)
}

function holdEventRequest({ sqe }: ServedCommand, { events }: Device): Result {
  return events.request(sqe.CID) ? 'held' : STATUS.ASYNCHRONOUS_EVENT_REQUEST_LIMIT_EXCEEDED
}
