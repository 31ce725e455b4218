import { describe, expect, it } from 'vitest'
import { decodeSqe } from '../src/commands.js'
import type { AnyCommand, CommandSet, DataTransfer } from '../src/layout/index.js'
import { fromHex, toHex, unwritten } from './bytes.js'

/** A command; its set, opcode and direction in the figure of opcodes; values, and the entry that they encode to. */
export type Entry = readonly [
  command: AnyCommand,
  set: CommandSet,
  opcode: number,
  transfer: DataTransfer,
  values: object,
  hex: string,
]

/** Checks the opcode of each command, and that its values are encoded to and decoded from the 64 bytes. */
export function describeEntries(entries: readonly Entry[]): void {
  describe.each(entries.map((entry) => ({ name: entry[0].name, entry })))('$name', ({ name, entry }) => {
    const [command, set, opcode, transfer, values, hex] = entry
    const expected = toHex(fromHex(hex))

    it(`is opcode ${opcode.toString(16).padStart(2, '0')}h of its set, whose bits 1:0 mean ${transfer}`, () => {
      expect(command).toMatchObject({ set, opcode, transfer })
    })

    it('is encoded as the 64 bytes of its figures, whatever the memory held before, at any offset', () => {
      for (const byteOffset of [0, 9]) {
        const data = unwritten(80)
        command.encode(data, byteOffset, values as Record<string, unknown>)
        expect(toHex(data, byteOffset, 64)).toBe(expected)
        expect(toHex(data, 0, byteOffset) + toHex(data, byteOffset + 64)).toMatch(/^[a5 ]+$/)
      }
    })

    it('has the same bytes when begun and assigned in the third slot of a queue', () => {
      const data = unwritten(4 * 64)
      const { CID, ...rest } = values as { CID: number }
      const cursor = command.view(data) as ReturnType<AnyCommand['view']> & { begin(cid: number): object }
      Object.assign(cursor.at(2).begin(CID), rest)
      expect(toHex(data, 128, 64)).toBe(expected)
      expect(toHex(data, 0, 128) + toHex(data, 192)).toMatch(/^[a5 ]+$/)
    })

    it('is decoded as the given fields, zero in all others, and no reserved bits', () => {
      const view = command.view(fromHex(hex)) as unknown as Record<string, unknown>
      const given = values as Record<string, unknown>
      for (const field of Object.keys(command.fields))
        expect(view[field], field).toBe(field === 'OPC' ? opcode : (given[field] ?? 0))
      expect(decodeSqe(set, fromHex(hex))).toMatchObject({ command: name, set })
      expect(decodeSqe(set, fromHex(hex)).fields).not.toHaveProperty('reserved')
    })
  })
}
