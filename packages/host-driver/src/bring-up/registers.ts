import type { Access, AnyRegister, BitsMap, BitsValues, RawOf, Register } from '@gpunvme/nvme-spec/layout'
import type { Bar } from '@gpunvme/nvme-spec/transport'
import { ALL_ONES, DeviceLostError } from '../commands/device-lost.js'

type Writable = Exclude<Access, 'ro'>

/** Typed access to registers. Writing a read-only register, or a field that it does not have, does not compile. */
export class Registers {
  private readonly bar: Bar

  constructor(bar: Bar) {
    this.bar = bar
  }

  /** Returns the value of a register. */
  read<W extends 32 | 64, F extends BitsMap>(register: Register<W, Access, F>): RawOf<W>
  read(register: AnyRegister): number | bigint
  read({ offset, widthBits }: Pick<AnyRegister, 'offset' | 'widthBits'>): number | bigint {
    return widthBits === 32 ? this.bar.read32(offset) : this.bar.read64(offset)
  }

  /** Writes the whole register: the given fields, and the others from `base`. Default: zero. */
  write<W extends 32 | 64, F extends BitsMap>(
    register: Register<W, Writable, F>,
    values: BitsValues<F, RawOf<W>>,
    base?: RawOf<W>,
  ): void {
    const raw = register.encode(values, base)
    if (typeof raw === 'bigint') this.bar.write64(register.offset, raw)
    else this.bar.write32(register.offset, raw)
  }

  /** Returns the current value as `NAME=0x… { FIELD=… }`. */
  format<W extends 32 | 64, F extends BitsMap>(register: Register<W, Access, F>): string {
    return register.format(this.read(register))
  }
}

const DWORD_OF_ONES = 0xffff_ffffn

/**
 * Reads a register of a controller that must be present. A read that no device completes returns all ones; that value must
 * not be written back or used. A transport may read 64 bits as two dwords, so one dword alone can be all ones. No
 * register that the driver reads has such a value, except CRTO, where it would mean 9 hours.
 * @throws DeviceLostError, after which no register may be accessed.
 */
export function readPresent<W extends 32 | 64, F extends BitsMap>(
  registers: Registers,
  register: Register<W, Access, F>,
  name: string,
): RawOf<W> {
  const raw: number | bigint = registers.read(register)
  const isAbsent =
    typeof raw === 'number'
      ? raw === ALL_ONES
      : raw >> 32n === DWORD_OF_ONES || BigInt.asUintN(32, raw) === DWORD_OF_ONES
  if (isAbsent) throw new DeviceLostError(name, ALL_ONES)
  return raw as RawOf<W>
}
