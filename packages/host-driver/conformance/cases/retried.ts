import type { DmaMemory, FaultMatch } from '@gpunvme/nvme-spec/transport'
import type { Opened } from '../context.js'
import type { ErrorCode } from '../error-codes.js'
import { KNOWN_LBA, OPCODE, readsOf, rule, withFaults, writesOf } from './support.js'
import type { TransportRequest } from '../request.js'

const WRITE_ZEROES = 0x08
const GET_LOG_PAGE = 0x02
/** CRDT1 to CRDT3: bytes 128 to 133 of Identify Controller. */
const [CRDT, CRDT_BYTES] = [128, 6]

/** A call whose command can be retried. */
export interface RetriedCall {
  readonly id: string
  /** Name of the call in titles, such as 'a read'. */
  readonly what: string
  /** Matches its command. */
  readonly match: FaultMatch
  /** Code of the error if the command fails. */
  readonly code: ErrorCode
  readonly run: (opened: Opened, memory: DmaMemory, options: { readonly timeoutNs: number }) => Promise<unknown>
}

/** One call for each code path that submits commands. */
export const RETRIED_CALLS: readonly RetriedCall[] = [
  {
    id: 'read',
    what: 'a read',
    match: readsOf(0),
    code: 'ERR_GPUNVME_TRANSFER',
    run: ({ ns }, memory, options) => ns.read(KNOWN_LBA, 1, memory, options),
  },
  {
    id: 'write',
    what: 'a write',
    match: writesOf(0),
    code: 'ERR_GPUNVME_TRANSFER',
    run: ({ ns }, memory, options) => ns.write(KNOWN_LBA, 1, memory, options),
  },
  {
    id: 'flush',
    what: 'a flush',
    match: { opcode: OPCODE.FLUSH },
    code: 'ERR_GPUNVME_COMMAND',
    run: ({ ns }, _, options) => ns.flush(options),
  },
  {
    id: 'write-zeroes',
    what: 'Write Zeroes',
    match: { ...readsOf(0), opcode: WRITE_ZEROES },
    code: 'ERR_GPUNVME_BLOCK_COMMAND',
    run: ({ ns }, _, options) => ns.writeZeroes(KNOWN_LBA, 1, options),
  },
  {
    id: 'admin',
    what: 'an Admin command',
    match: { qid: 0, opcode: GET_LOG_PAGE },
    code: 'ERR_GPUNVME_COMMAND',
    run: ({ ctrl }, _, options) => ctrl.smartLog(options),
  },
]

/** Returns a request for a device that fails commands and requests retries after its third delay time, CRDT3. */
export function retriedLater(match: FaultMatch): TransportRequest {
  return withFaults(rule({ kind: 'status', sct: 0, sc: 0x06, crd: 3 }, match))
}

/** Changes Identify Controller data to the longest retry delays: 6553.5 s. */
export function requestLongestDelays(data: Uint8Array): void {
  data.fill(0xff, CRDT, CRDT + CRDT_BYTES)
}
