import { LID } from './log-identifiers.js'
import { adminCommand, cdw, cdwBit, cdwOpen, refuse } from '../layout/index.js'

/**
 * Returns a part of a log page (Base 2.1 §5.1.12, Figures 196 to 201). Five fields select the part; `logPagePart` fills
 * them.
 */
export const GetLogPage = adminCommand(
  'Get Log Page',
  { opcode: 0x02, doc: 'Returns a part of a log page', spec: 'Base 2.1 §5.1.12' },
  {
    LID: cdwOpen(10, 7, 0, 'Log Page Identifier', LID.values),
    LSP: cdw(10, 14, 8, 'Log Specific Parameter'),
    RAE: cdwBit(10, 15, 'Retain Asynchronous Event'),
    NUMDL: cdw(10, 31, 16, "Number of Dwords Lower, 0's based with NUMDU"),
    NUMDU: cdw(11, 15, 0, 'Number of Dwords Upper'),
    LSI: cdw(11, 31, 16, 'Log Specific Identifier'),
    LPOL: cdw(12, 31, 0, 'Log Page Offset Lower'),
    LPOU: cdw(13, 31, 0, 'Log Page Offset Upper'),
    UIDX: cdw(14, 6, 0, 'UUID Index'),
    OT: cdwBit(14, 23, 'Offset Type: 0 for bytes, 1 for an index'),
    CSI: cdw(14, 31, 24, 'Command Set Identifier'),
  },
)

/** The fields of Get Log Page that select a part of the page. */
export interface LogPagePart {
  readonly NUMDL: number
  readonly NUMDU: number
  readonly LPOL: number
  readonly LPOU: number
  readonly OT: 0 | 1
}

/**
 * Returns the fields of Get Log Page for `dwords` dwords from `offset`: `{ LID: 2, ...logPagePart(128) }`. The offset
 * is in bytes; if `of` is 'index', it is in entries of the page's list, which not every log page supports (Base 2.1
 * §5.1.12).
 * @throws TypeError or RangeError for a count or an offset that does not fit the fields, and for a byte offset that is
 *   not a multiple of four, whose low bits a controller may ignore.
 */
export function logPagePart(dwords: number, offset: number | bigint = 0, of: 'bytes' | 'index' = 'bytes'): LogPagePart {
  const where = (field: string) => ({ name: `${GetLogPage.name}.${field}`, spec: GetLogPage.spec })
  if (!(Number.isInteger(dwords) && dwords >= 1 && dwords <= 2 ** 32))
    refuse(where('NUMD'), 'Number of Dwords', 'an integer from 1 to 4294967296', dwords)
  const type = typeof offset === 'bigint' ? 'bigint' : 'number'
  const exact = type === 'bigint' || Number.isSafeInteger(offset)
  if (!exact || offset < 0 || BigInt.asUintN(64, BigInt(offset)) !== BigInt(offset))
    refuse(where('LPO'), 'Log Page Offset', 'a safe integer or a bigint from 0 to 2^64 - 1', offset, type)
  const wide = BigInt(offset)
  if (of === 'bytes' && wide % 4n !== 0n) refuse(where('LPO'), 'Log Page Offset', 'a multiple of 4 bytes', offset, type)
  const numd = dwords - 1
  return {
    NUMDL: numd % 0x1_0000,
    NUMDU: Math.floor(numd / 0x1_0000),
    LPOL: Number(wide & 0xffff_ffffn),
    LPOU: Number(wide >> 32n),
    OT: of === 'index' ? 1 : 0,
  }
}
