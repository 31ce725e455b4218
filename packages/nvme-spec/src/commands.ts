import { Abort, AsyncEventRequest } from './admin/events.js'
import { GetFeatures, SetFeatures } from './admin/features.js'
import { Identify } from './admin/identify.js'
import { CreateIoCq, CreateIoSq, DeleteIoCq, DeleteIoSq } from './admin/queues.js'
import { Flush } from './nvm/flush.js'
import { Read, Write } from './nvm/read-write.js'
import { SQE } from './sqe.js'

const declared = [
  ...[DeleteIoSq, CreateIoSq, DeleteIoCq, CreateIoCq, Identify, Abort, SetFeatures, GetFeatures, AsyncEventRequest],
  ...[Flush, Write, Read],
] as const

/** A submission queue entry as text, by the command that its queue and opcode make it: `Read CID=0x0412 NSID=1 …`. */
export function formatSqe(set: 'admin' | 'nvm', data: DataView, byteOffset = 0): string {
  const sqe = SQE.view(data, byteOffset)
  const command = declared.find((candidate) => candidate.set === set && candidate.opcode === sqe.OPC)
  const name = command?.name ?? `${set === 'admin' ? 'Admin' : 'NVM'} opcode 0x${sqe.OPC.toString(16).padStart(2, '0')}`
  const rows = command ? command.describe(data, byteOffset) : SQE.format(sqe)
  return [name, ...rows.filter((row) => !row.startsWith('OPC='))].join(' ')
}
