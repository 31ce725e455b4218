import type { AnyRegister } from './layout/register.js'
import { registers } from './registers.js'

/** The controller property that the byte at `offset` of BAR0 belongs to; undefined where none is declared. */
export function registerAt(offset: number): AnyRegister | undefined {
  return registers.find((each) => offset >= each.offset && offset < each.offset + each.widthBits / 8)
}

/** What an access at `offset` of BAR0 is called: `CSTS`, `ASQ upper half`; the offset, `0x18`, where nothing is declared. */
export function registerNameAt(offset: number): string {
  const register = registerAt(offset)
  if (register?.offset === offset) return register.name
  return register?.offset === offset - 4 ? `${register.name} upper half` : hex(offset)
}

/**
 * What was read or written at `offset` of BAR0, as text: a number is 32 bits, a bigint 64. The fields where that is a
 * whole register, `CSTS=0x00000001 { RDY=1 … }`, and otherwise the bits alone, `0x1`.
 */
export function formatRegisterAt(offset: number, value: number | bigint): string {
  const register = registerAt(offset)
  const isWhole = register?.offset === offset && register.widthBits === (typeof value === 'bigint' ? 64 : 32)
  return isWhole ? register.format(value) : hex(value)
}

function hex(value: number | bigint): string {
  return `0x${value.toString(16)}`
}
