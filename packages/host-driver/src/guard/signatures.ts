import type { ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import { ANY, signatureTable } from './signature-table.js'

/** A known format found on a namespace. */
export interface FoundSignature {
  /** Name in `overwrite`. */
  readonly name: string
  /** First offset at which it was found. */
  readonly offsetBytes: number
  /** All offsets at which it was found, in ascending order; several for a format that keeps copies. */
  readonly offsets: readonly number[]
}

/** A range of whole blocks, in bytes. */
interface ByteRange {
  readonly offsetBytes: number
  readonly lengthBytes: number
}

/** Size of a namespace. */
interface Shape {
  readonly capacityBytes: number
  /** Bytes of a logical block. */
  readonly blockBytes: number
}

/** Parts of a namespace that a search needs. */
export interface SignatureSource extends Shape {
  /** Reads whole blocks. */
  readBytes(offsetBytes: number, lengthBytes: number, options?: ExecuteOptions): Promise<Uint8Array>
}

/**
 * Number of bytes at each end of a namespace that may hold signatures. A format with copies may have some elsewhere:
 * see `FoundSignature.offsets`.
 */
export const SIGNATURE_SCAN_BYTES = 2 * 1024 * 1024

/** Gap up to which reading it costs less than another command. */
const WORTH_READING_BYTES = 64 * 1024

const sought = signatureTable.map(({ magic, ...row }) => ({
  ...row,
  magic: typeof magic === 'string' ? Array.from(magic, (character) => character.charCodeAt(0)) : magic,
}))

/** Names that `FoundSignature.name` may have, in alphabetical order. */
export const SIGNATURE_NAMES: readonly string[] = [...new Set(signatureTable.map(({ name }) => name))].sort()

/** Returns every known signature on a namespace: file systems, partition tables, volume managers, RAID, encryption. */
export async function findSignatures(namespace: SignatureSource): Promise<FoundSignature[]> {
  const found = new Map<string, Set<number>>()
  for (const { offsetBytes, lengthBytes } of signatureRanges(namespace)) {
    const bytes = await namespace.readBytes(offsetBytes, lengthBytes)
    for (const { name, at, magic } of placesOf(namespace)) {
      if (!holds(bytes, at - offsetBytes, magic)) continue
      const offsets = found.get(name)
      if (offsets === undefined) found.set(name, new Set([at]))
      else offsets.add(at)
    }
  }
  return Array.from(found, ([name, at]) => {
    const offsets = Array.from(at).sort((one, other) => one - other)
    return { name, offsetBytes: offsets[0]!, offsets }
  })
}

/** Returns the ranges that may hold signatures on a namespace of this size, in ascending order and not adjacent. */
export function signatureRanges(namespace: Shape): ByteRange[] {
  const { blockBytes } = namespace
  const ranges: { from: number; to: number }[] = []
  for (const { at, magic } of placesOf(namespace).toSorted((one, other) => one.at - other.at)) {
    const from = Math.floor(at / blockBytes) * blockBytes
    const to = Math.ceil((at + magic.length) / blockBytes) * blockBytes
    const last = ranges.at(-1)
    if (last !== undefined && from <= last.to + WORTH_READING_BYTES) last.to = Math.max(last.to, to)
    else ranges.push({ from, to })
  }
  return ranges.map(({ from, to }) => ({ offsetBytes: from, lengthBytes: to - from }))
}

/** Returns the table with the offsets that exist on a namespace of this size. */
function placesOf({ capacityBytes }: Shape): { name: string; at: number; magic: readonly number[] }[] {
  return sought.flatMap(({ name, at, magic, endUnitBytes = 512 }) =>
    (typeof at === 'function' ? at(capacityBytes) : at)
      .map((place) => (place >= 0 ? place : capacityBytes - (capacityBytes % endUnitBytes) + place))
      .filter((place) => place >= 0 && place + magic.length <= capacityBytes)
      .map((place) => ({ name, at: place, magic })),
  )
}

function holds(bytes: Uint8Array, offset: number, magic: readonly number[]): boolean {
  return (
    offset >= 0 &&
    offset + magic.length <= bytes.length &&
    magic.every((byte, index) => byte === ANY || bytes[offset + index] === byte)
  )
}
