import type { Access, AnyRegister, BitsMap, BitsValues, RawOf, Register } from '@gpunvme/nvme-spec/layout'
import type { Bar } from '@gpunvme/nvme-spec/transport'

type Writable = Exclude<Access, 'ro'>

/** Registers by their declarations. Writing one that is read-only, or a field that it has not, does not compile. */
export class Registers {
  private readonly bar: Bar

  constructor(bar: Bar) {
    this.bar = bar
  }

  read<W extends 32 | 64, F extends BitsMap>(register: Register<W, Access, F>): RawOf<W>
  read(register: AnyRegister): number | bigint
  read({ offset, widthBits }: Pick<AnyRegister, 'offset' | 'widthBits'>): number | bigint {
    return widthBits === 32 ? this.bar.read32(offset) : this.bar.read64(offset)
  }

  /** Writes the whole register: these fields, and in the others what `base` has, or zero. */
  write<W extends 32 | 64, F extends BitsMap>(
    register: Register<W, Writable, F>,
    values: BitsValues<F, RawOf<W>>,
    base?: RawOf<W>,
  ): void {
    const raw = register.encode(values, base)
    if (typeof raw === 'bigint') this.bar.write64(register.offset, raw)
    else this.bar.write32(register.offset, raw)
  }

  /** `NAME=0x… { FIELD=… }` as it stands now. */
  format<W extends 32 | 64, F extends BitsMap>(register: Register<W, Access, F>): string {
    return register.format(this.read(register))
  }
}
