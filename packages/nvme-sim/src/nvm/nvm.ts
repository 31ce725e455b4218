import { Flush, Read, STATUS, Write, type StatusCode } from '@gpunvme/nvme-spec'
import type { ServedCommand } from '../controller/command.js'
import type { ReachableMemory } from '../memory/reachable.js'
import { prepareBlocks, prepareNamespace, prepareWrite } from './checks.js'
import type { IoCommand } from './io-command.js'

const BROADCAST_NSID = 0xffff_ffff

const read: IoCommand = {
  work: 'read',
  direction: 'to-host',
  prepare: prepareBlocks,
  perform(command, { memory }) {
    const { media } = command.namespace!
    return eachRun(command, memory, (offsetBytes, bytes) => media.read(offsetBytes, bytes))
  },
}

const write: IoCommand = {
  work: 'write',
  direction: 'from-host',
  effects: { LBCC: 1 },
  prepare: prepareWrite,
  perform(command, { memory }) {
    const { media } = command.namespace!
    return eachRun(command, memory, (offsetBytes, bytes) => media.write(offsetBytes, bytes))
  },
}

const flush: IoCommand = {
  work: 'flush',
  direction: 'none',
  prepare: (command, device) => (command.sqe.NSID === BROADCAST_NSID ? undefined : prepareNamespace(command, device)),
  perform({ sqe }, { namespaces }) {
    // Identify says that Flush takes the broadcast NSID (VWC.FB = 11b): it means all of them.
    for (const { nsid, media } of namespaces.active) {
      if (sqe.NSID === BROADCAST_NSID || sqe.NSID === nsid) media.flush()
    }
    return STATUS.SUCCESS
  },
}

/** The I/O commands by opcode; any other is answered with Invalid Command Opcode. */
export const ioCommands: readonly (IoCommand | undefined)[] = byOpcode([
  [Flush.opcode, flush],
  [Write.opcode, write],
  [Read.opcode, read],
])

function byOpcode(commands: readonly (readonly [opcode: number, command: IoCommand])[]) {
  const table = new Array<IoCommand | undefined>(256).fill(undefined)
  for (const [opcode, command] of commands) table[opcode] = command
  return table
}

function eachRun(
  { runs, slba, namespace }: ServedCommand,
  memory: ReachableMemory,
  move: (offsetBytes: number, bytes: Uint8Array) => void,
): StatusCode {
  let at = slba * namespace!.blockBytes
  for (let i = 0; i < runs.count; i++) {
    const bytes = memory.bytes(runs.iova[i]!, runs.lengthBytes[i]!)
    // It was there when the command began: the host has freed it under a command in flight.
    if (bytes === undefined) return STATUS.DATA_TRANSFER_ERROR
    move(at, bytes)
    at += bytes.length
  }
  return STATUS.SUCCESS
}
