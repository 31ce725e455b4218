import { checkPlaces } from './check.js'
import { refuse, type Where } from './spec-ref.js'
import type { FieldMap } from './struct.js'

/** Bytes of a structure that contain set bits that no row declares; their declared bits are zero here. */
export interface ReservedBytes {
  /** Offset from the start of the structure. */
  readonly offset: number
  readonly bytes: Uint8Array
}

/**
 * Returns the bits of a structure that rows declare, as a byte mask; rejects rows that overlap or exceed the structure.
 */
export function declaredMask(name: string, lengthBytes: number, fields: FieldMap): Uint8Array {
  checkPlaces(name, lengthBytes, fields)
  const taken = new Uint8Array(lengthBytes)
  for (const key in fields) {
    const { offset, lengthBytes: fieldBytes, bits } = fields[key]!
    if (bits) for (let at = bits.lsb; at <= bits.msb; at++) taken[offset + (at >>> 3)]! |= 1 << (at & 7)
    else taken.fill(0xff, offset, offset + fieldBytes)
  }
  return taken
}

/** A byte of a structure with bits that no row declares. */
export interface Gap {
  readonly offset: number
  readonly free: number
}

/** Returns where a structure has bits that no row declares. */
export function gapsIn(declared: Uint8Array): Gap[] {
  return Array.from(declared, (bits, offset) => ({ offset, free: ~bits & 0xff })).filter(({ free }) => free !== 0)
}

/** Returns the runs of bytes with set bits that no row declares. */
export function undeclaredRuns(gaps: readonly Gap[], data: DataView, byteOffset: number): ReservedBytes[] {
  const runs: { offset: number; bytes: number[] }[] = []
  for (const { offset, free } of gaps) {
    const rest = data.getUint8(byteOffset + offset) & free
    if (rest === 0) continue
    const last = runs.at(-1)
    if (last !== undefined && last.offset + last.bytes.length === offset) last.bytes.push(rest)
    else runs.push({ offset, bytes: [rest] })
  }
  return runs.map(({ offset, bytes }) => ({ offset, bytes: Uint8Array.from(bytes) }))
}

/** Sets bits that no row declares. @throws TypeError or RangeError for any other bits. */
export function writeUndeclared(where: Where, declared: Uint8Array, data: DataView, runs: unknown): void {
  const doc = 'bits that no row declares'
  if (!Array.isArray(runs)) refuse(where, doc, 'an array of { offset, bytes }', runs, 'array')
  for (const run of runs as (Partial<ReservedBytes> | null | undefined)[]) {
    const { offset, bytes } = run ?? {}
    if (!(bytes instanceof Uint8Array)) refuse(where, doc, 'bytes (Uint8Array)', bytes, 'Uint8Array')
    if (!Number.isInteger(offset) || offset! < 0 || offset! + bytes.length > declared.length)
      refuse(where, doc, `bytes inside the ${declared.length} of the structure, from an offset`, offset)
    bytes.forEach((byte, i) => {
      const at = offset! + i
      if ((byte & declared[at]!) !== 0)
        throw new RangeError(
          `${where.name} (${doc}): expected no bits of a declared row, got 0x${byte.toString(16)} at byte ${at} (${where.spec})`,
        )
      data.setUint8(at, data.getUint8(at) | byte)
    })
  }
}
