import type { Bits, BitsMap, FieldMap } from '../src/layout/index.js'
import { unwritten } from './bytes.js'

/** Returns the rows of a word in the form of a figure: symbol, most and least significant bit. */
export function rowsOf(word: { readonly fields: BitsMap }): [string, number, number][] {
  return Object.entries(word.fields).map(([symbol, { msb, lsb }]) => [symbol, msb, lsb])
}

/** Returns the fields of a structure in the form of a figure: symbol, first byte, length. */
export function bytesOf(struct: { readonly fields: FieldMap }): [string, number, number][] {
  return Object.entries(struct.fields).map(([symbol, { offset, lengthBytes }]) => [symbol, offset, lengthBytes])
}

/** Locations of fields by name: first byte and length. */
export type Places = Readonly<Record<string, readonly [offset: number, lengthBytes: number]>>

/** Returns the fields of a structure like `bytesOf`, as an object. */
export function placesOf(struct: { readonly fields: FieldMap }): Places {
  return Object.fromEntries(bytesOf(struct).map(([name, offset, lengthBytes]) => [name, [offset, lengthBytes]]))
}

/** Returns the named values of a row. */
export function valuesOf(row: Pick<Bits, 'values'> | undefined): Readonly<Record<string, number>> {
  return row!.values
}

interface AnyCommand {
  encode(data: DataView, byteOffset: number, values: object): void
}

/** Encodes a command and returns its Command Dwords 10 to 15. */
export function dwordsOf(command: AnyCommand, values: object): number[] {
  const data = unwritten(64)
  command.encode(data, 0, values)
  return Array.from({ length: 6 }, (_, i) => data.getUint32(40 + i * 4, true))
}
