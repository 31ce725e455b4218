import { countOf, Flush, Read, STATUS, Write, type StatusCode } from '@gpunvme/nvme-spec'
import type { ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import type { HostMemory } from '../memory/host-memory.js'
import type { Namespaces } from './namespace.js'

/** A command of the NVM Command Set, in the two steps between which its time passes. */
export interface IoHandler {
  readonly kind: 'read' | 'write' | 'flush'
  /** Everything that can be refused before data moves. Undefined is fit to go on. */
  prepare(command: ServedCommand, device: Device): StatusCode | undefined
  perform(command: ServedCommand, device: Device): StatusCode
}

const BROADCAST_NSID = 0xffff_ffff

const read: IoHandler = {
  kind: 'read',
  prepare: prepareTransfer,
  perform(command, { memory }) {
    const { media } = command.namespace!
    return eachRun(command, memory, (offsetBytes, bytes) => media.read(offsetBytes, bytes))
  },
}

const write: IoHandler = {
  kind: 'write',
  prepare(command, device) {
    const fault = prepareTransfer(command, device)
    return fault ?? (command.namespace!.media.readOnly ? STATUS.NAMESPACE_IS_WRITE_PROTECTED : undefined)
  },
  perform(command, { memory }) {
    const { media } = command.namespace!
    return eachRun(command, memory, (offsetBytes, bytes) => media.write(offsetBytes, bytes))
  },
}

const flush: IoHandler = {
  kind: 'flush',
  prepare: ({ sqe }, { namespaces }) =>
    sqe.NSID === BROADCAST_NSID ? undefined : namespaceFault(sqe.NSID, namespaces),
  perform({ sqe }, { namespaces }) {
    // Identify says that Flush takes the broadcast NSID (VWC.FB = 11b): it means all of them.
    for (const { nsid, media } of namespaces.active) {
      if (sqe.NSID === BROADCAST_NSID || sqe.NSID === nsid) media.flush()
    }
    return STATUS.SUCCESS
  },
}

/** Handlers by opcode; any other is answered with Invalid Command Opcode. */
export const ioHandlers: ReadonlyMap<number, IoHandler> = new Map([
  [Flush.opcode, flush],
  [Write.opcode, write],
  [Read.opcode, read],
])

function prepareTransfer(command: ServedCommand, device: Device): StatusCode | undefined {
  const { sqe, readWrite } = command
  const { namespaces, prps, pageBytes, maxTransferBytes } = device
  const namespace = namespaces.get(sqe.NSID)
  if (namespace === undefined) return namespaceFault(sqe.NSID, namespaces)
  const { SLBA } = readWrite
  const blocks = countOf(readWrite.NLB)
  // No format here has protection information, so asking for its checks is asking for something else.
  if (readWrite.PRINFO !== 0) return STATUS.INVALID_PROTECTION_INFORMATION
  // An SLBA of 2^53 or more is read inexactly, but still as beyond any namespace.
  if (SLBA + blocks > namespace.blocks) return STATUS.LBA_OUT_OF_RANGE
  const lengthBytes = blocks * namespace.blockBytes
  if (lengthBytes > maxTransferBytes) return STATUS.INVALID_FIELD_IN_COMMAND
  command.namespace = namespace
  command.offsetBytes = SLBA * namespace.blockBytes
  command.lengthBytes = lengthBytes
  return prps.walk(sqe.PRP1, sqe.PRP2, lengthBytes, pageBytes, command.runs)
}

/** What is wrong with an NSID (Base 2.1 §4.1.1, Figure 92). */
function namespaceFault(nsid: number, namespaces: Namespaces): StatusCode | undefined {
  if (namespaces.get(nsid)) return undefined
  const known = namespaces.isValid(nsid) || nsid === BROADCAST_NSID
  return known ? STATUS.INVALID_FIELD_IN_COMMAND : STATUS.INVALID_NAMESPACE_OR_FORMAT
}

function eachRun(
  { runs, offsetBytes }: ServedCommand,
  memory: HostMemory,
  move: (offsetBytes: number, bytes: Uint8Array) => void,
): StatusCode {
  let at = offsetBytes
  for (let i = 0; i < runs.count; i++) {
    const bytes = memory.bytes(runs.iova[i]!, runs.lengthBytes[i]!)
    // It was there when the command began: the host has freed it under a command in flight.
    if (bytes === undefined) return STATUS.DATA_TRANSFER_ERROR
    move(at, bytes)
    at += bytes.length
  }
  return STATUS.SUCCESS
}
