import {
  Abort,
  AsyncEventRequest,
  CreateIoCq,
  CreateIoSq,
  DeleteIoCq,
  DeleteIoSq,
  FID,
  GetFeatures,
  Identify,
  numberOfQueues,
  SetFeatures,
  STATUS,
  zeroBased,
} from '@gpunvme/nvme-spec'
import { createCq, createSq, deleteCq, deleteSq, type IoQueueContext } from './admin-queues.js'
import type { Result, ServedCommand } from './command.js'
import { ASYNC_EVENT_REQUESTS, identify } from './identify.js'
import type { Namespaces } from './namespace.js'
import { Runs } from './prp-walk.js'

/** What Admin commands work with. */
export interface AdminContext extends IoQueueContext {
  readonly namespaces: Namespaces
  /** Command identifiers of the Asynchronous Event Requests that wait for an event. */
  readonly eventRequests: number[]
}

type AdminHandler = (command: ServedCommand, context: AdminContext) => Result

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
export function performAdmin(command: ServedCommand, context: AdminContext): Result {
  return handlers.get(command.sqe.OPC)?.(command, context) ?? STATUS.INVALID_COMMAND_OPCODE
}

function answerIdentify(
  { data, sqe }: ServedCommand,
  { profile, namespaces, prps, pageBytes, memory }: AdminContext,
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

function setFeatures(command: ServedCommand, context: AdminContext): Result {
  const { FID: feature, SV, CDW11 } = SetFeatures.view(command.data)
  if (feature !== FID.NUMBER_OF_QUEUES) return STATUS.INVALID_FIELD_IN_COMMAND
  if (SV === 1) return STATUS.FEATURE_IDENTIFIER_NOT_SAVEABLE
  const { submissionQueues, completionQueues } = numberOfQueues.decode(CDW11)
  if (submissionQueues === 0xffff || completionQueues === 0xffff) return STATUS.INVALID_FIELD_IN_COMMAND
  // Queues that exist may be numbered higher than what is granted now.
  if (context.queues.hasIoQueues()) return STATUS.COMMAND_SEQUENCE_ERROR
  const most = context.profile.ioQueuePairs
  context.grantedSqs = Math.min(submissionQueues + 1, most)
  context.grantedCqs = Math.min(completionQueues + 1, most)
  command.dw0 = granted(context)
  return STATUS.SUCCESS
}

function getFeatures(command: ServedCommand, context: AdminContext): Result {
  const { FID: feature, SEL } = GetFeatures.view(command.data)
  // ONCS.SSFS is 0: there is nothing to select.
  if (feature !== FID.NUMBER_OF_QUEUES || SEL !== GetFeatures.SEL.CURRENT) return STATUS.INVALID_FIELD_IN_COMMAND
  command.dw0 = granted(context)
  return STATUS.SUCCESS
}

function granted({ grantedSqs, grantedCqs }: AdminContext): number {
  return numberOfQueues.encode(zeroBased(grantedSqs), zeroBased(grantedCqs))
}

function holdEventRequest({ sqe }: ServedCommand, { eventRequests }: AdminContext): Result {
  if (eventRequests.length === ASYNC_EVENT_REQUESTS) return STATUS.ASYNCHRONOUS_EVENT_REQUEST_LIMIT_EXCEEDED
  eventRequests.push(sqe.CID)
  return 'held'
}
