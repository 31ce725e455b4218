import { bit, bits, formatField, inHex, merge, sqeFields, struct, u16, u32, type Memory } from './layout/index.js'
import { formatStatus, type Status, statusName } from './status.js'

/** The submission queue entry with undecoded command dwords: as seen before the opcode is known. */
export const SQE = struct(
  'SQE',
  { bytes: 64, doc: 'Submission Queue Entry', spec: 'Base 2.1 §4.1.1' },
  merge(sqeFields, {
    CDW2: inHex(u32(8, 'Command Dword 2')),
    CDW3: inHex(u32(12, 'Command Dword 3')),
    CDW10: inHex(u32(40, 'Command Dword 10')),
    CDW11: inHex(u32(44, 'Command Dword 11')),
    CDW12: inHex(u32(48, 'Command Dword 12')),
    CDW13: inHex(u32(52, 'Command Dword 13')),
    CDW14: inHex(u32(56, 'Command Dword 14')),
    CDW15: inHex(u32(60, 'Command Dword 15')),
  }),
)

/** The completion queue entry: 16 bytes. The upper half of DW3 has the Phase Tag in bit 0 and the Status above it. */
export const CQE = struct(
  'CQE',
  { bytes: 16, doc: 'Completion Queue Entry', spec: 'Base 2.1 §4.2.1' },
  {
    DW0: inHex(u32(0, 'Command Specific')),
    DW1: inHex(u32(4, 'Command Specific')),
    SQHD: u16(8, 'SQ Head Pointer'),
    SQID: u16(10, 'SQ Identifier'),
    CID: inHex(u16(12, 'Command Identifier')),
    STATUS: u16(14, 'Phase Tag and Status', {
      P: bit(0, 'Phase Tag'),
      SC: inHex(bits(8, 1, 'Status Code')),
      SCT: bits(11, 9, 'Status Code Type'),
      CRD: bits(13, 12, 'Command Retry Delay'),
      M: bit(14, 'More'),
      DNR: bit(15, 'Do Not Retry'),
    }),
  },
)

/** A completion queue entry as an object, with every bit (Base 2.1 §4.2.1). */
export interface DecodedCqe {
  readonly DW0: number
  readonly DW1: number
  readonly SQHD: number
  readonly SQID: number
  readonly CID: number
  /** Phase Tag. */
  readonly P: 0 | 1
  readonly status: Required<Status> & { readonly name: string }
}

/**
 * Decodes the completion queue entry at byteOffset. Pass its status to `formatStatus` and `mayRetry`.
 * @throws RangeError if `memory` ends before the 16 bytes of the entry do.
 */
export function decodeCqe(memory: Memory, byteOffset = 0): DecodedCqe {
  const { DW0, DW1, SQHD, SQID, CID, STATUS } = CQE.view(memory, byteOffset)
  const { P, SC, SCT, CRD, M, DNR } = CQE.STATUS
  const [sct, sc] = [SCT.of(STATUS), SC.of(STATUS)]
  const flags = { crd: CRD.of(STATUS), more: M.of(STATUS) === 1, dnr: DNR.of(STATUS) === 1 }
  return {
    DW0,
    DW1,
    SQHD,
    SQID,
    CID,
    P: P.of(STATUS) as 0 | 1,
    status: { sct, sc, name: statusName(sct, sc), ...flags },
  }
}

/**
 * Formats a completion queue entry: `CID=0x0412 SQID=1 SQHD=7 P=1 LBA Out of Range (SCT 0h SC 80h, DNR)`.
 * @throws RangeError if `memory` ends before the 16 bytes of the entry do.
 */
export function formatCqe(memory: Memory, byteOffset = 0): string {
  const { CID, SQID, SQHD, STATUS, DW0, DW1 } = CQE.view(memory, byteOffset)
  const { P, SC, SCT, CRD, M, DNR } = CQE.STATUS
  const status = formatStatus({
    sct: SCT.of(STATUS),
    sc: SC.of(STATUS),
    dnr: DNR.of(STATUS) === 1,
    more: M.of(STATUS) === 1,
  })
  const crd = CRD.of(STATUS)
  return [
    `CID=${formatField(CQE.fields.CID, CID)} SQID=${SQID} SQHD=${SQHD} P=${P.of(STATUS)}`,
    ...(DW0 === 0 ? [] : [`DW0=${formatField(CQE.fields.DW0, DW0)}`]),
    ...(DW1 === 0 ? [] : [`DW1=${formatField(CQE.fields.DW1, DW1)}`]),
    ...(crd === 0 ? [] : [`CRD=${crd}`]),
    status,
  ].join(' ')
}
