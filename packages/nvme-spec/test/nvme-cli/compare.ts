import type { Claim } from './claims.js'
import type { Names, Slip } from './names.js'

/** Access to a declared row of a word. */
export interface Row {
  readonly msb: number
  readonly lsb: number
  of(raw: number | bigint): number | bigint
  nameOf(value: number): string
}

/** Parts of a declaration that the comparison uses. */
export interface Declared {
  readonly name: string
  readonly bytes: number
  readonly fields: Readonly<Record<string, { offset: number; lengthBytes: number; rows: object; struct?: Declared }>>
  view(data: DataView): object
}

/** Fields of a structure in memory; `at` selects an element of an array of structures. */
export type Fields = Record<string, unknown> & { at(index: number): Fields }

/** Returns the paths of all rows of a structure, and of the fields of nested structures. */
export function rowNames(structure: Declared): string[] {
  return Object.entries(structure.fields).flatMap(([field, { rows, struct }]) => {
    const inside = struct ? [...Object.keys(struct.fields), ...rowNames(struct)] : Object.keys(rows)
    return inside.map((name) => `${field}.${name}`)
  })
}

/** Returns the rows of a field by name; empty if the field has none. */
export function rowsOf(structure: Declared, field: string): Record<string, Row> {
  const handle = (structure as unknown as Record<string, Record<string, Row>>)[field]!
  return Object.fromEntries(Object.keys(structure.fields[field]!.rows).map((name) => [name, handle[name]!]))
}

/**
 * Compares the output of nvme-cli for dumps of one structure with the decoder of nvme-spec. Collects differences in
 * `problems`, and fields, rows and slips that occurred in the sets, to detect unused table entries.
 */
export class Comparison {
  readonly printedFields = new Set<string>()
  /** Fields whose bits nvme-cli explains. */
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

  /** Compares one rendering of one dump: every claim must be correct, and no expected claim may be missing. */
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

  /** Unique differences, each with the first dump that shows it. */
  get problems(): readonly string[] {
    return [...this.found].map(([problem, dump]) => `${problem} (${this.structure.name}, ${dump})`)
  }

  /** Returns the field that nvme-cli names `key`. */
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
      this.report(`${claim.key} is not a declared field`)
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
      // nvme-cli keeps the padding; nvme-spec removes it.
      this.expectText(name, ours.trimEnd(), printed.trimEnd())
    } else if (typeof ours === 'number' && !Number.isSafeInteger(ours)) {
      // A 64-bit field as a number: from 2^53 on, rounded to the nearest.
      this.expectText(name, String(ours), String(Number(printed)))
    } else {
      this.expectInteger(name, BigInt(ours as number | bigint), BigInt(ours as number | bigint), BigInt(printed))
    }
  }

  /** Compares an element of an array of structures, or of words with rows. */
  private compareElement(view: Fields, field: string, element: NonNullable<Claim['element']>, printed: string): void {
    const { index, part } = element
    const name = this.names.parts[field]?.[part]
    const value = view[field]
    if (name === undefined) {
      this.report(`${field}: ${part} is not a declared field`)
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
    if (msb - lsb + 1 === this.structure.fields[field]!.lengthBytes * 8) return // the entire field again

    this.explainedFields.add(field)
    const rows = Object.entries(rowsOf(this.structure, field))
    const touched = rows.filter(([, row]) => row.msb >= lsb && row.lsb <= msb)
    // nvme-cli prints "Reserved" both for reserved bits and for reserved values of a row.
    const isValue = (name: string) => rows.some(([key, row]) => key === name && row.msb === msb && row.lsb === lsb)
    const meaning = Object.entries(this.names.bits[field] ?? {}).find(
      ([name, words]) => words.test(text) && (text !== 'Reserved' || isValue(name)),
    )?.[0]
    if (meaning === undefined) {
      // Bits that nvme-cli calls reserved, or describes with text missing from the table, must not be a declared row.
      const unknown = touched.map(([name]) => `${field}.${name}`).filter((name) => !(name in this.names.newerBits))
      if (unknown.length > 0) this.report(`${unknown.join()} is declared, but nvme-cli prints for ${place}: ${text}`)
      else if (text !== 'Reserved' && rows.length > 0) this.report(`no declared row is ${place}: ${text}`)
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
    if (ours !== printed) this.report(`${name} is ${ours} in nvme-spec, ${printed} in nvme-cli`)
  }

  private report(problem: string): void {
    if (!this.found.has(problem)) this.found.set(problem, this.dump)
  }
}
