import { nameIn, type NamedValues } from '../layout/index.js'
import { quantityOf, type FormatContext } from './quantity.js'

/** Declaration of one integer: the properties that bit rows and fields share. */
export interface Row {
  readonly doc: string
  readonly values: NamedValues
  readonly open?: boolean
  readonly zeroBased?: boolean
  readonly hex?: boolean
  readonly widthBits: number
}

/** Docs of identifiers and codes, which are shown in hexadecimal: `PCI Vendor ID`, `Queue Identifier`, `Status Code`. */
const IDENTIFIER = /\b(?:ID|LID|Identifiers?|Status Code)$/
/** `address bits 63:12` */
const ADDRESS = /address bits \d+:(\d+)$/
/** `0 means no limit`, `FFFFh: none`, `2 for 64 bits` */
const SPECIAL = /(?:[;,:] |^)(?:(\d+)|([\dA-F]+)h)(?: means| for| if| is|:) ([^;,]+)/g

/** Words in the doc of a one-bit row, with the meaning of 1 and of 0. */
const FLAGS: readonly (readonly [RegExp, string, string])[] = [
  // Negations first: the words after them alone have the opposite meaning.
  [/\bNot Present$/, 'absent', 'present'],
  [/\bNot Ready$/, 'not ready', 'ready'],
  [/^No (?!.* and )/, 'set', 'clear'],
  [/\bSupport(?:ed|s)?\b/, 'supported', 'not supported'],
  [/\bEnabled?$/, 'enabled', 'disabled'],
  [/\bDisabled?$/, 'disabled', 'enabled'],
  [/\bRequired$/, 'required', 'not required'],
  [/\bPresent$/, 'present', 'absent'],
  [/\bValid$/, 'valid', 'not valid'],
  [/\bReady$/, 'ready', 'not ready'],
]

/** Returns an integer as text: identifiers, addresses and words of bits in hexadecimal, all others in decimal. */
export function formatInteger(row: Row, value: number | bigint): string {
  const { doc, widthBits, hex } = row
  const isIdentifier = IDENTIFIER.test(headOf(doc)) && !doc.startsWith('Number of')
  // Longer identifiers, such as NSIDs, usually have small values, which leading zeroes would make hard to read.
  const digits = hex || (isIdentifier && widthBits <= 16) ? Math.ceil(widthBits / 4) : 1
  // 64-bit fields are addresses and LBAs unless declared as a counter; a row wider than a dword is an address.
  const isAddress = widthBits > 32 && widthBits <= 64 && hex === undefined
  const isShownInHex = hex === true || isIdentifier || isAddress
  return isShownInHex ? `0x${value.toString(16).padStart(digits, '0')}` : String(value)
}

/** Returns what a value means beyond its number: `supported`, `NVM`, `1 MiB at 4 KiB pages`; '' if there is none. */
export function meaningOf(row: Row, value: number | bigint, context: FormatContext): string {
  const { doc, values, zeroBased, widthBits } = row
  const number = Number(value)
  for (const name in values) if (values[name] === number) return nameIn(row, number)
  const special = Array.from(doc.matchAll(SPECIAL)).find(
    ([, decimal, hex]) => number === (decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal)),
  )
  if (special !== undefined) return special[3]!
  if (Object.keys(values).length > 0) return row.open ? '' : 'reserved'
  if (widthBits === 1) return flagOf(doc, number)
  const [, lowest] = ADDRESS.exec(doc) ?? []
  if (lowest !== undefined) return `address 0x${(BigInt(value) << BigInt(lowest)).toString(16)}`
  const quantity = quantityOf(doc, zeroBased ? number + 1 : number, context)
  return quantity ?? (zeroBased ? `${number + 1}, 0's based` : '')
}

function flagOf(doc: string, value: number): string {
  const head = headOf(doc)
  const [, set, clear] = FLAGS.find(([words]) => words.test(head)) ?? [undefined, 'set', 'clear']
  return value === 1 ? set : clear
}

function headOf(doc: string): string {
  return doc.split(/[:;,]/)[0]!
}
