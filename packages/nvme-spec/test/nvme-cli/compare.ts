import type { Claim } from './claims.js'
import type { Names, Slip } from './names.js'

/** A row of a word, bound to its declaration. */
export interface Row {
  readonly msb: number
  readonly lsb: number
  of(raw: number | bigint): number | bigint
  nameOf(value: number): string
}

/** What the comparison uses of a declaration. */
export interface Declared {
  readonly name: string
  readonly bytes: number
  readonly fields: Readonly<Record<string, { offset: number; lengthBytes: number; rows: object; struct?: Declared }>>
  view(data: DataView): object
}

/** The fields of one structure in memory; those of a row of structures are reached with `at`. */
export type Fields = Record<string, unknown> & { at(index: number): Fields }

/** The names of all rows of a structure, and of the fields of structures inside it, after that of their field. */
export function rowNames(structure: Declared): string[] {
  return Object.entries(structure.fields).flatMap(([field, { rows, struct }]) => {
    const inside = struct ? [...Object.keys(struct.fields), ...rowNames(struct)] : Object.keys(rows)
    return inside.map((name) => `${field}.${name}`)
  })
}

/** The rows of a field by name; none where it is declared as a whole. */
export function rowsOf(structure: Declared, field: string): Record<string, Row> {
  const handle = (structure as unknown as Record<string, Record<string, Row>>)[field]!
  return Object.fromEntries(Object.keys(structure.fields[field]!.rows).map((name) => [name, handle[name]!]))
}

/**
 * Holds what nvme-cli says of dumps of one structure against our decoder. Disagreements are collected in `problems`;
 * the sets say what was seen at all, so that no entry of the tables outlives its use.
 */
export class Comparison {
  readonly printedFields = new Set<string>()
  /** Fields of which nvme-cli explains single bits. */
  readonly explainedFields = new Set<string>()
  readonly judgedRows = new Set<string>()
  readonly slipsSeen = new Set<string>()
  readonly derivedSeen = new Set<string>()
  private readonly structure: Declared
  private readonly names: Names
  private readonly found = new Map<string, string>()
  private dump = ''
  private slips: readonly Slip[] = []

  constructor(structure: Declared, names: Names) {
    this.structure = structure
    this.names = names
  }

  /** Compares one rendering of one dump: every claim must hold, and no claim that is due may be missing. */
  compare(dump: string, data: DataView, claims: readonly Claim[], slips: readonly Slip[]): void {
    this.dump = dump
    this.slips = slips
    const view = this.structure.view(data) as Fields
    for (const claim of claims) this.compareClaim(view, claim)
    for (const [key, isPrinted] of Object.entries(this.names.printedIf)) {
      const expected = isPrinted(data)
      const found = claims.some((claim) => this.fieldOf(claim.key) === this.fieldOf(key) && claim.value !== '')
      if (expected !== found) this.report(`${key} is ${found ? '' : 'not '}printed`)
    }
  }

  /** Each once, with the dump that shows it first. */
  get problems(): readonly string[] {
    return [...this.found].map(([problem, dump]) => `${problem} (${this.structure.name}, ${dump})`)
  }

  /** The field that nvme-cli calls `key`. */
  fieldOf(key: string): string {
    return this.names.keys[key] ?? key.toUpperCase()
  }

  private compareClaim(view: Fields, claim: Claim): void {
    const derived = this.names.derived[claim.element ? `${claim.key}.${claim.element.part}` : claim.key]
    const field = this.fieldOf(claim.key)
    if (derived) {
      this.derivedSeen.add(claim.element ? `${claim.key}.${claim.element.part}` : claim.key)
      if (field in this.structure.fields) this.printedFields.add(field)
      this.expectText(claim.key, derived(view, claim.element?.index ?? 0), claim.value)
    } else if (!(field in this.structure.fields)) {
      this.report(`${claim.key} is none of our fields`)
    } else {
      this.printedFields.add(field)
      if (claim.element) this.compareElement(view, field, claim.element, claim.value)
      else if (claim.bits) this.compareBits(field, BigInt(view[field] as number | bigint), claim.bits, claim.value)
      else this.compareValue(field, view[field], claim.value)
    }
  }

  private compareValue(name: string, ours: unknown, printed: string): void {
    if (ours instanceof Uint8Array) {
      this.expectText(name, Buffer.from(ours).toString('hex'), printed.replaceAll('-', ''))
    } else if (typeof ours === 'string') {
      // nvme-cli leaves the padding in its place; we take it off.
      this.expectText(name, ours.trimEnd(), printed.trimEnd())
    } else if (typeof ours === 'number' && !Number.isSafeInteger(ours)) {
      // A 64-bit field as a number: rounded from 2^53 on, and that it shall be rounded to the nearest.
      this.expectText(name, String(ours), String(Number(printed)))
    } else {
      this.expectInteger(name, BigInt(ours as number | bigint), BigInt(ours as number | bigint), BigInt(printed))
    }
  }

  /** One element of a row of structures, or of words that have rows. */
  private compareElement(view: Fields, field: string, element: NonNullable<Claim['element']>, printed: string): void {
    const { index, part } = element
    const name = this.names.parts[field]?.[part]
    const value = view[field]
    if (name === undefined) {
      this.report(`${field}: ${part} is none of our fields`)
      return
    }
    this.judgedRows.add(`${field}.${name}`)
    if (value instanceof Uint32Array) {
      const ours = rowsOf(this.structure, field)[name]!.of(value[index]!)
      this.expectInteger(`${field}.${name}`, BigInt(ours), BigInt(ours), BigInt(printed))
    } else {
      this.compareValue(`${field}.${name}`, (value as Fields).at(index)[name], printed)
    }
  }

  private compareBits(field: string, raw: bigint, printed: NonNullable<Claim['bits']>, value: string): void {
    const { msb, lsb, text } = printed
    const place = `${field}[${msb}:${lsb}]`
    const ours = (raw >> BigInt(lsb)) & ((1n << BigInt(msb - lsb + 1)) - 1n)
    this.expectInteger(place, ours, raw, BigInt(value))
    if (msb - lsb + 1 === this.structure.fields[field]!.lengthBytes * 8) return // the whole field once more

    this.explainedFields.add(field)
    const rows = Object.entries(rowsOf(this.structure, field))
    const touched = rows.filter(([, row]) => row.msb >= lsb && row.lsb <= msb)
    // A value that is reserved, of a row that is not, is called the same as reserved bits.
    const isValue = (name: string) => rows.some(([key, row]) => key === name && row.msb === msb && row.lsb === lsb)
    const meaning = Object.entries(this.names.bits[field] ?? {}).find(
      ([name, words]) => words.test(text) && (text !== 'Reserved' || isValue(name)),
    )?.[0]
    if (meaning === undefined) {
      // What nvme-cli calls reserved, or does not say in words that the table knows, must be no row of ours.
      const unknown = touched.map(([name]) => `${field}.${name}`).filter((name) => !(name in this.names.newerBits))
      if (unknown.length > 0) this.report(`${unknown.join()} is declared, nvme-cli says of ${place}: ${text}`)
      else if (text !== 'Reserved' && rows.length > 0) this.report(`no row of ours is ${place}: ${text}`)
      return
    }
    const row = rowsOf(this.structure, field)[meaning]
    this.judgedRows.add(`${field}.${meaning}`)
    const wider = this.names.newerBits[`${field}.${meaning}`] !== undefined
    if (row === undefined) this.report(`${field} has no row ${meaning}`)
    else if (row.lsb !== lsb || (row.msb !== msb && !wider)) this.report(`${field}.${meaning} is at ${place}: ${text}`)
    else if (row.msb === msb) this.expectText(place, String(row.of(raw)), String(ours))
  }

  private expectInteger(name: string, ours: bigint, raw: bigint, printed: bigint): void {
    if (printed === ours) return
    const slip = this.slips.find(({ where, explains }) => where.includes(name) && explains(printed, ours, raw))
    if (slip) this.slipsSeen.add(`${name}: ${slip.why}`)
    else this.expectText(name, String(ours), String(printed))
  }

  private expectText(name: string, ours: string, printed: string): void {
    if (ours !== printed) this.report(`${name} is ${ours} as we decode it, ${printed} as nvme-cli does`)
  }

  private report(problem: string): void {
    if (!this.found.has(problem)) this.found.set(problem, this.dump)
  }
}
