import * as zlib from 'node:zlib'
import { NotApplicable } from './check.js'

/** CRC-32/ISO-HDLC by Node's zlib. @throws NotApplicable if this version of Node has none (before 20.15 and 22.2) */
export function crc32(bytes: Uint8Array): number {
  const given = (zlib as { crc32?: (data: Uint8Array) => number }).crc32
  if (given === undefined) throw new NotApplicable(`Node ${process.version} has no zlib.crc32`)
  return given(bytes)
}
