import { commandOf, formatSqe } from '../commands.js'
import { CQE, formatCqe, SQE } from '../entries.js'
import { FABRICS_OPCODE } from '../fabrics/entry.js'
import type { CommandSet, Memory } from '../layout/index.js'
import { viewOf } from '../layout/facts.js'
import { formatStatus } from '../status.js'
import type { TraceCommand, TraceCompletion } from '../transport/index.js'

/**
 * Returns the submission queue entry at byteOffset, as trace events have it.
 * @param qid queue of the entry; 0 has Admin commands, whatever the set of the others.
 * @throws RangeError if `memory` ends before the 64 bytes of the entry do.
 */
export function traceSqe(qid: number, memory: Memory, byteOffset = 0, set: CommandSet = 'nvm'): TraceCommand {
  const data = viewOf(SQE, memory, byteOffset)
  const inQueue = qid === 0 ? 'admin' : set
  const { OPC, CID, NSID, PSDT, PRP1, PRP2 } = SQE.view(data, byteOffset)
  const text = formatSqe(inQueue, data, byteOffset)
  const command = commandOf(inQueue, OPC)
  const { SLBA, NLB } = command?.fields ?? {}
  // They have no NSID, and an SGL in place of PRPs.
  const isFabrics = OPC === FABRICS_OPCODE
  return {
    qid,
    cid: CID,
    opcode: OPC,
    name: isFabrics ? 'Fabrics Command' : (command?.name ?? /^.* opcode 0x[\da-f]+/.exec(text)![0]),
    nsid: isFabrics ? 0 : NSID,
    ...(SLBA !== undefined && { slba: exact(data.getBigUint64(byteOffset + SLBA.offset, true)) }),
    ...(NLB !== undefined && { nlb: NLB.codec(NLB).get(data, byteOffset) as number }),
    ...(!isFabrics && PSDT === SQE.PSDT.PRP && { prp1: inHex(PRP1), prp2: inHex(PRP2) }),
    raw: hexOf(data, byteOffset, SQE.bytes),
    text,
  }
}

/**
 * Returns the completion queue entry at byteOffset, as trace events have it.
 * @throws RangeError if `memory` ends before the 16 bytes of the entry do.
 */
export function traceCqe(memory: Memory, byteOffset = 0): TraceCompletion {
  const data = viewOf(CQE, memory, byteOffset)
  const { CID, SQID, STATUS } = CQE.view(data, byteOffset)
  const { SC, SCT, M, DNR } = CQE.STATUS
  const [sct, sc] = [SCT.of(STATUS), SC.of(STATUS)]
  return {
    qid: SQID,
    cid: CID,
    sct,
    sc,
    status: formatStatus({ sct, sc, dnr: DNR.of(STATUS) === 1, more: M.of(STATUS) === 1 }),
    raw: hexOf(data, byteOffset, CQE.bytes),
    text: formatCqe(data, byteOffset),
  }
}

function exact(value: bigint): number | string {
  return value <= Number.MAX_SAFE_INTEGER ? Number(value) : String(value)
}

function inHex(value: number | bigint): string {
  return `0x${value.toString(16)}`
}

/** The digits of each byte. */
const DIGITS = /*#__PURE__*/ Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

function hexOf(data: DataView, byteOffset: number, bytes: number): string {
  let digits = ''
  for (let at = byteOffset; at < byteOffset + bytes; at++) digits += DIGITS[data.getUint8(at)]!
  return digits
}
