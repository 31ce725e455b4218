import type { Volume } from '../volume.js'

/** Upper case of each UTF-16 code unit. */
export type UpCase = Uint16Array

/** 65536 code units of two bytes. A compressed table is shorter. */
export const MAX_UP_CASE_BYTES = 65_536 * 2

/** Followed by a count of code units that are their own upper case. (§7.2.5.1) */
const IDENTITY_RUN = 0xffff

/**
 * Unpacks an up-case table. (§7.2)
 * @throws FileSystemError for a wrong checksum, and for more than 65536 code units.
 */
export function readUpCase(volume: Volume, table: DataView, checksum: number): UpCase {
  let sum = 0
  for (let at = 0; at < table.byteLength; at++) sum = ((sum << 31) | (sum >>> 1)) + table.getUint8(at)
  volume.requireValue('the TableChecksum of the up-case table', sum >>> 0, checksum)
  const upCase = Uint16Array.from({ length: 65_536 }, (_, unit) => unit)
  let unit = 0
  for (let at = 0; at + 2 <= table.byteLength; at += 2) {
    const word = table.getUint16(at, true)
    if (word === IDENTITY_RUN && at + 4 <= table.byteLength) {
      at += 2
      unit += table.getUint16(at, true)
    } else if (unit < 65_536) upCase[unit++] = word
    else throw volume.error('DAMAGED', 'its up-case table has more than 65536 characters')
  }
  return upCase
}

/** Returns the folded form of a name, for comparison. */
export function folded(upCase: UpCase, name: string): string {
  return Array.from({ length: name.length }, (_, index) => String.fromCharCode(upCase[name.charCodeAt(index)]!)).join(
    '',
  )
}
