import type { Namespace } from '../namespace/namespace.js'
import { ANY, signatureTable } from './signature-table.js'

/** Something known that lies on a namespace. */
export interface FoundSignature {
  /** As `overwrite` names it. */
  readonly name: string
  /** The first place where it is. */
  readonly offsetBytes: number
  /** Every place where it is, in ascending order: a format that keeps copies has several. */
  readonly places: readonly number[]
}

/** Bytes of a namespace, whole blocks. */
export interface ByteRange {
  readonly offsetBytes: number
  readonly lengthBytes: number
}

/** What a search needs of a namespace. */
export type SignatureSource = Pick<Namespace, 'capacityBytes' | 'blockBytes' | 'readBytes'>
type Shape = Pick<Namespace, 'capacityBytes' | 'blockBytes'>

/**
 * How much of each end of a namespace the table speaks of: whoever takes a namespace over clears that much, and what
 * `signatureRanges` names beyond it.
 */
export const SIGNATURE_REACH_BYTES = 2 * 1024 * 1024

/** Bytes between two places up to which reading them costs less than another command. */
const WORTH_READING_BYTES = 64 * 1024

const sought = signatureTable.map(({ magic, ...row }) => ({
  ...row,
  magic: typeof magic === 'string' ? Array.from(magic, (character) => character.charCodeAt(0)) : magic,
}))

/** Every known signature on a namespace: file systems, partition tables, volume managers, RAID, encryption. */
export async function findSignatures(namespace: SignatureSource): Promise<FoundSignature[]> {
  const found = new Map<string, Set<number>>()
  for (const { offsetBytes, lengthBytes } of signatureRanges(namespace)) {
    const bytes = await namespace.readBytes(offsetBytes, lengthBytes)
    for (const { name, at, magic } of placesOf(namespace)) {
      if (!holds(bytes, at - offsetBytes, magic)) continue
      const places = found.get(name)
      if (places === undefined) found.set(name, new Set([at]))
      else places.add(at)
    }
  }
  return Array.from(found, ([name, at]) => {
    const places = Array.from(at).sort((one, other) => one - other)
    return { name, offsetBytes: places[0]!, places }
  })
}

/** Where signatures may lie on a namespace of this size, in ascending order and apart from each other. */
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

/** The table with places of a namespace of this size, those that it has. */
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
