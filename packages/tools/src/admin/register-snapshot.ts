import { DeviceLostError } from '@gpunvme/host-driver'
import { CAP, CSTS, registersOf } from '@gpunvme/nvme-spec'
import type { AnyRegister } from '@gpunvme/nvme-spec/layout'
import type { ReadRegister } from './view.js'

const ALL_ONES_64 = 0xffff_ffff_ffff_ffffn

/** A register value, decoded. */
export interface RegisterState {
  readonly name: string
  readonly offset: string
  /** All digits in hexadecimal. */
  readonly value: string
  readonly fields: Readonly<Record<string, unknown>>
  /** 'CC=0x00460001 { EN=1 … }' */
  readonly text: string
}

/**
 * Reads the registers of a controller in offset order, without those that CAP excludes.
 * @param name name of the drive, for the error. @throws DeviceLostError if all registers read as all ones.
 */
export function readRegisters(read: ReadRegister, name: string): RegisterState[] {
  const cap = read(CAP) as bigint
  if (cap === ALL_ONES_64) throw new DeviceLostError(name, read(CSTS) as number)
  const registers = registersOf(cap)
  const digits = registers.at(-1)!.offset.toString(16).length
  return registers.map((register) => stateOf(register, read(register), digits))
}

function stateOf(register: AnyRegister, raw: number | bigint, offsetDigits: number): RegisterState {
  return {
    name: register.name,
    offset: `0x${register.offset.toString(16).padStart(offsetDigits, '0')}`,
    value: `0x${raw.toString(16).padStart(register.widthBits / 4, '0')}`,
    fields: register.decode(raw),
    text: register.format(raw),
  }
}

/** A register whose value has changed. */
export interface RegisterChange {
  readonly from: RegisterState
  readonly to: RegisterState
}

export function changesBetween(before: readonly RegisterState[], after: readonly RegisterState[]): RegisterChange[] {
  const old = new Map(before.map((state) => [state.name, state]))
  return after.flatMap((to) => {
    const from = old.get(to.name)
    return from === undefined || from.value === to.value ? [] : [{ from, to }]
  })
}
