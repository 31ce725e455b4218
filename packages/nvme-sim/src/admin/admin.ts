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
import { createCq, createSq, deleteCq, deleteSq, type CommandsUnderWay } from './queues.js'
import type { Result, ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import { ASYNC_EVENT_REQUESTS, identify } from './identify.js'
import { Runs } from '../memory/prp-walk.js'

type AdminHandler = (command: ServedCommand, device: Device, commands: CommandsUnderWay) => Result

/** Handlers by opcode; any other is answered with Invalid Command Opcode. */
const handlers: ReadonlyMap<number, AdminHandler> = new Map<number, AdminHandler>([
  [DeleteIoSq.opcode, deleteSq],
  [CreateIoSq.opcode, createSq],
  [DeleteIoCq.opcode, deleteCq],
  [CreateIoCq.opcode, createCq],
  [Identify.opcode, answerIdentify],
  [Abort.opcode, abort],
  [SetFeatures.opcode, setFeatures],
  [GetFeatures.opcode, getFeatures],
  [AsyncEventRequest.opcode, holdEventRequest],
])

/** Does an Admin command. */
export function performAdmin(command: ServedCommand, device: Device, commands: CommandsUnderWay): Result {
  return handlers.get(command.sqe.OPC)?.(command, device, commands) ?? STATUS.INVALID_COMMAND_OPCODE
}

function answerIdentify(
  { data, sqe }: ServedCommand,
  { profile, namespaces, prps, pageBytes, memory }: Device,
): Result {
  const answer = identify(Identify.view(data).CNS, sqe.NSID, profile, namespaces)
  if (!(answer instanceof DataView)) return answer
  const runs = new Runs()
  const fault = prps.walk(sqe.PRP1, sqe.PRP2, answer.byteLength, pageBytes, runs)
  if (fault) return fault
  let from = 0
  for (let i = 0; i < runs.count; i++) {
    const to = memory.bytes(runs.iova[i]!, runs.lengthBytes[i]!)!
    to.set(new Uint8Array(answer.buffer, from, to.length))
    from += to.length
  }
  return STATUS.SUCCESS
}

/** No command is ever aborted: they are too short. Bit 0 of DW0 says so (Base 2.1 §5.1.1). */
function abort(command: ServedCommand): Result {
  command.dw0 = 1
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

function holdEventRequest({ sqe }: ServedCommand, { eventRequests }: Device): Result {
  if (eventRequests.length === ASYNC_EVENT_REQUESTS) return STATUS.ASYNCHRONOUS_EVENT_REQUEST_LIMIT_EXCEEDED
  eventRequests.push(sqe.CID)
  return 'held'
}
