// Computes the C members that hold the fields of a structure. Natural alignment puts them at their declared offsets.
import { isPart } from '../dist/layout/index.js'
import { docOf, lower } from './names.mjs'

/**
 * @typedef {import('./items.mjs').AnyStruct} AnyStruct
 * @typedef {import('./items.mjs').Field} Field
 * @typedef {{ rows: [string, Field][], offset: number, bytes: number, type: string, count: number, name: string,
 *   doc: string, align: number }} Member a C member, which holds one field, or the rows that share its bytes
 * @typedef {(nested: AnyStruct) => { tag: string, align: number }} NestedOf tag and alignment of a structure in C
 */

/** Returns the largest power of two, up to 8, that divides a number. */
const alignmentOf = (/** @type {number} */ number) => [8, 4, 2].find((align) => number % align === 0) ?? 1

/** @type {<T>(list: readonly T[], keyOf: (item: T) => number) => Map<number, T[]>} */
function groupBy(list, keyOf) {
  const groups = new Map()
  for (const item of list) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups
}

/** Converts bits of a dword that are whole bytes to a field of these bytes. Returns other fields unchanged. */
function wholeBytes(/** @type {Field} */ field) {
  const { msb, lsb } = field
  if (!isPart(field) || lsb % 8 !== 0 || msb % 8 !== 7) return field
  const lengthBytes = (msb - lsb + 1) / 8
  const offset = field.offset + lsb / 8
  return { ...field, offset, lengthBytes, elementBytes: lengthBytes, msb: msb - lsb, lsb: 0 }
}

/** Returns the members of a structure in order: those that hold its fields, and byte arrays for the gaps. */
export function membersOf(
  /** @type {string} */ owner,
  /** @type {AnyStruct} */ struct,
  /** @type {NestedOf} */ nestedOf,
) {
  const limit = alignmentOf(struct.bytes)
  /** @type {[string, Field][]} */
  const fields = Object.entries(struct.fields).map(([key, field]) => [key, wholeBytes(field)])
  const whole = fields.filter(([, field]) => !isPart(field))
  const members = whole.map(([key, field]) => {
    const name = lower(key, `${owner}.${key}`)
    return { ...shapeOf(field, Math.min(limit, alignmentOf(field.offset)), nestedOf), name, rows: [[key, field]] }
  })
  const taken = whole.flatMap(([, { offset, lengthBytes }]) =>
    Array.from({ length: lengthBytes }, (_, i) => offset + i),
  )
  const dwords = groupBy(
    fields.filter(([, field]) => isPart(field)),
    ([, field]) => field.offset,
  )
  const shared = [...dwords].flatMap(([offset, rows]) => sharedMembers(owner, offset, rows, new Set(taken), limit))
  const sorted = /** @type {Member[]} */ ([...members, ...shared]).sort((a, b) => a.offset - b.offset)
  return withGaps(owner, sorted, struct.bytes)
}

/** Returns the C type of a field that is not a part of a dword. Its alignment is at most `limit` bytes. */
function shapeOf(/** @type {Field} */ field, /** @type {number} */ limit, /** @type {NestedOf} */ nestedOf) {
  const { offset, lengthBytes: bytes } = field
  const doc = docOf(field)
  const array = (/** @type {string} */ type, /** @type {number} */ each, note = '') => ({
    ...{ type, count: bytes / each, align: type.startsWith('uint') ? each : 1, doc: doc + note, offset, bytes },
  })
  if (field.kind === 'text') return array('char', 1)
  if ('struct' in field) {
    const nested = /** @type {AnyStruct} */ (field.struct)
    const { tag, align } = nestedOf(nested)
    if (align > limit) return array('uint8_t', 1, `; each a struct ${tag}`)
    return { ...array(`struct ${tag}`, nested.bytes), align }
  }
  const element = field.elementBytes === 16 ? 8 : field.elementBytes
  if (![1, 2, 4, 8].includes(element) || element > limit) return array('uint8_t', 1)
  return array(`uint${element * 8}_t`, element)
}

/** Returns the widest members that hold the rows of the dword at `offset` without overlapping the bytes in `taken`. */
function sharedMembers(
  /** @type {string} */ owner,
  /** @type {number} */ offset,
  /** @type {[string, Field][]} */ rows,
  /** @type {Set<number>} */ taken,
  /** @type {number} */ limit,
) {
  for (const bytes of [4, 2, 1]) {
    if (bytes > Math.min(limit, alignmentOf(offset))) continue
    const pieceOf = (/** @type {number} */ bit) => Math.floor(bit / (bytes * 8))
    const pieces = groupBy(rows, ([, field]) => pieceOf(field.lsb))
    const free = [...pieces.keys()].every((piece) =>
      Array.from({ length: bytes }, (_, i) => offset + piece * bytes + i).every((byte) => !taken.has(byte)),
    )
    if (!free || !rows.every(([, { msb, lsb }]) => pieceOf(lsb) === pieceOf(msb))) continue
    return [...pieces].map(([piece, members]) => {
      const at = offset + piece * bytes
      const doc = members.map(([key]) => key).join(' ')
      return {
        rows: members,
        offset: at,
        bytes,
        type: `uint${bytes * 8}_t`,
        count: 1,
        name: `bits_${at}`,
        doc,
        align: bytes,
      }
    })
  }
  throw new Error(`${owner}: no C member can hold ${rows.map(([key]) => key).join(' ')} in the dword at byte ${offset}`)
}

/** @type {(owner: string, members: Member[], lengthBytes: number) => Member[]} */
function withGaps(owner, members, lengthBytes) {
  /** @type {Member[]} */
  const filled = []
  let end = 0
  const gap = (/** @type {number} */ to) => {
    const [name, count] = [`reserved_${end}`, to - end]
    if (count > 0) filled.push({ rows: [], offset: end, bytes: count, type: 'uint8_t', count, name, doc: '', align: 1 })
  }
  for (const member of members) {
    if (member.offset < end) throw new Error(`${owner}: the C member ${member.name} would overlap the previous one`)
    gap(member.offset)
    filled.push(member)
    end = member.offset + member.bytes
  }
  gap(lengthBytes)
  return filled
}
