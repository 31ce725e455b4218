import { CQE } from '@gpunvme/nvme-spec'
import { jsonlTrace, traceCqe, traceSqe } from '@gpunvme/nvme-spec/trace'
import type { TraceEvent } from '@gpunvme/nvme-spec/transport'

/** Returns events as the lines of a JSONL trace. */
export function linesOf(...events: readonly TraceEvent[]): string {
  let text = ''
  const write = jsonlTrace((line) => (text += line))
  for (const event of events) write(event)
  return text
}

interface Encodes {
  encode(data: DataView, byteOffset: number, fields: never): void
}

/** Returns the submission of a command to I/O queue 1. Fields are those of its `encode`, without the types. */
export function submission(command: Encodes, fields: object): TraceEvent {
  const data = new DataView(new ArrayBuffer(64))
  command.encode(data, 0, fields as never)
  return { timeNs: 1, track: 'sq 1', name: 'submit', command: traceSqe(1, data) }
}

/** Returns the completion of a command of I/O queue 1. */
export function completion(cid: number, status: { readonly SC: number; readonly DNR?: 0 | 1 }): TraceEvent {
  const { data } = CQE.create({ SQHD: 1, SQID: 1, CID: cid, STATUS: { P: 1, ...status } })
  return { timeNs: 1, track: 'cq 1', name: 'complete', completion: traceCqe(data) }
}
