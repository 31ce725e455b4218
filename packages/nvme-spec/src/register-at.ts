import type { AnyRegister } from './layout/register.js'
import { registers } from './registers.js'

/** Returns the register that contains the byte at `offset` of BAR0; undefined if none is declared. */
export function registerAt(offset: number): AnyRegister | undefined {
  return registers.find((each) => offset >= each.offset && offset < each.offset + each.widthBits / 8)
}

/**
 * Returns a name for an access at `offset` of BAR0: `CSTS`, `ASQ upper half`, or the offset (`0x18`) if nothing is
 * declared.
 */
export function registerNameAt(offset: number): string {
  const register = registerAt(offset)
  if (register?.offset === offset) return register.name
  return register?.offset === offset - 4 ? `${register.name} upper half` : hex(offset)
}

/**
 * Formats a value read or written at `offset` of BAR0; a number is 32 bits, a bigint 64. A whole register is shown with
 * its fields, `CSTS=0x00000001 { RDY=1 … }`, anything else as `0x1`.
 */
export function formatRegisterAt(offset: number, value: number | bigint): string {
  const register = registerAt(offset)
  const isWhole = register?.offset === offset && register.widthBits === (typeof value === 'bigint' ? 64 : 32)
  return isWhole ? register.format(value) : hex(value)
}

function hex(value: number | bigint): string {
  return `0x${value.toString(16)}`
}
