import {
  Abort,
  AsyncEventRequest,
  countOf,
  CreateIoCq,
  CreateIoSq,
  DeleteIoCq,
  DeleteIoSq,
  FID,
  GetFeatures,
  Identify,
  NumberOfQueues,
  SetFeatures,
  STATUS,
  zeroBased,
} from '@gpunvme/nvme-spec'
import type { CommandsUnderWay, Result, ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import { sendData, type AdminCommand } from './admin-command.js'
import { identify } from './identify.js'
import { createCq, createSq, deleteCq, deleteSq } from './queues.js'

/** The Admin commands by opcode; any other is answered with Invalid Command Opcode. */
export const adminCommands: ReadonlyMap<number, AdminCommand> = new Map<number, AdminCommand>([
  [DeleteIoSq.opcode, { perform: deleteSq }],
  [CreateIoSq.opcode, { perform: createSq }],
  [DeleteIoCq.opcode, { perform: deleteCq }],
  [CreateIoCq.opcode, { perform: createCq }],
  [Identify.opcode, { perform: answerIdentify }],
  [Abort.opcode, { perform: abort }],
  [SetFeatures.opcode, { perform: setFeatures }],
  [GetFeatures.opcode, { perform: getFeatures }],
  [AsyncEventRequest.opcode, { perform: holdEventRequest }],
])

/** Does an Admin command. */
export function performAdmin(command: ServedCommand, device: Device, commands: CommandsUnderWay): Result {
  return adminCommands.get(command.sqe.OPC)?.perform(command, device, commands) ?? STATUS.INVALID_COMMAND_OPCODE
}

function answerIdentify(command: ServedCommand, device: Device): Result {
  const { CNS } = Identify.view(command.data)
  const answer = identify(CNS, command.sqe.NSID, device.profile, device.namespaces)
  if (!(answer instanceof DataView)) return answer
  return sendData(command, device, new Uint8Array(answer.buffer, answer.byteOffset, answer.byteLength))
}

/** Bit 0 of DW0 says whether the command was not aborted: it had ended, or was never there (Base 2.1 §5.1.1). */
function abort(command: ServedCommand, _: Device, commands: CommandsUnderWay): Result {
  const { SQID, ABORTED_CID } = Abort.view(command.data)
  command.dw0 = commands.abort(SQID, ABORTED_CID, command) ? 0 : 1
  return STATUS.SUCCESS
}

function setFeatures(command: ServedCommand, device: Device): Result {
  const { FID: feature, SV, CDW11 } = SetFeatures.view(command.data)
  if (feature !== FID.NUMBER_OF_QUEUES) return STATUS.INVALID_FIELD_IN_COMMAND
  if (SV === 1) return STATUS.FEATURE_IDENTIFIER_NOT_SAVEABLE
  const { NSQR, NCQR } = NumberOfQueues.CDW11.decode(CDW11)
  if (NSQR === 0xffff || NCQR === 0xffff) return STATUS.INVALID_FIELD_IN_COMMAND
  // Queues that exist may be numbered higher than what is granted now.
  if (device.queues.hasIoQueues()) return STATUS.COMMAND_SEQUENCE_ERROR
  const most = device.profile.ioQueuePairs
  device.grantedSqs = Math.min(countOf(NSQR), most)
  device.grantedCqs = Math.min(countOf(NCQR), most)
  command.dw0 = granted(device)
  return STATUS.SUCCESS
}

function getFeatures(command: ServedCommand, device: Device): Result {
  const { FID: feature, SEL } = GetFeatures.view(command.data)
  // ONCS.SSFS is 0: there is nothing to select.
  if (feature !== FID.NUMBER_OF_QUEUES || SEL !== GetFeatures.SEL.CURRENT) return STATUS.INVALID_FIELD_IN_COMMAND
  command.dw0 = granted(device)
  return STATUS.SUCCESS
}

function granted({ grantedSqs, grantedCqs }: Device): number {
  return NumberOfQueues.DW0.encode({ NSQA: zeroBased(grantedSqs), NCQA: zeroBased(grantedCqs) })
}

function holdEventRequest({ sqe }: ServedCommand, { events }: Device): Result {
  return events.request(sqe.CID) ? 'held' : STATUS.ASYNCHRONOUS_EVENT_REQUEST_LIMIT_EXCEEDED
}
