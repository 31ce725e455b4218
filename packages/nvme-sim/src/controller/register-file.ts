import { CMBEBS, CMBLOC, CMBMSC, CMBSTS, CMBSWTP, CMBSZ, CSTS, INTMC, INTMS, NSSD, registers } from '@gpunvme/nvme-spec'
import { BPINFO, BPMBL, BPRSEL, PMRCAP, PMRCTL, PMREBS, PMRMSCL, PMRMSCU, PMRSTS, PMRSWTP } from '@gpunvme/nvme-spec'
import type { Access, BitsMap } from '@gpunvme/nvme-spec/layout'
import { hex, type Diagnostics } from './diagnostics.js'

/** The needed part of a register's declaration; every register has it. */
export interface Declared {
  readonly name: string
  readonly offset: number
  readonly widthBits: 32 | 64
  readonly access: Access
  readonly fields: BitsMap
}

/**
 * Optional registers that this controller does not have according to CAP: no Controller Memory Buffer, Boot Partitions,
 * Persistent Memory Region or NVM Subsystem Shutdown. They read 0h and ignore writes.
 */
const absent: readonly Declared[] = [
  ...[CMBLOC, CMBSZ, CMBMSC, CMBSTS, CMBEBS, CMBSWTP],
  ...[BPINFO, BPRSEL, BPMBL],
  ...[PMRCAP, PMRCTL, PMRSTS, PMREBS, PMRSWTP, PMRMSCL, PMRMSCU],
  NSSD,
]

/** One 32-bit word of the registers: its register, and the bits that the host may write. */
interface Word {
  readonly register: Declared
  readonly access: Access
  readonly writable: number
  /** Index of its stored bits. INTMC shares the mask of INTMS. */
  readonly storage: number
}

/**
 * Storage and access rules of the registers, both from their declarations. The effects of writes are implemented
 * elsewhere.
 */
export class RegisterFile {
  /** Incremented whenever a value may have changed, for code that mirrors the registers to shared memory. */
  version = 0
  private readonly diagnostics: Diagnostics
  private readonly words: (Word | undefined)[] = []
  private readonly storage: Uint32Array

  constructor(diagnostics: Diagnostics) {
    this.diagnostics = diagnostics
    for (const register of registers) this.declare(register)
    this.storage = new Uint32Array(this.words.length)
  }

  /** The host reads the word at `offset`; reserved words read 0h. */
  read(offset: number): number {
    const word = this.words[offset >>> 2]
    if (word === undefined)
      this.diagnostics.report('register-access', `host read offset ${hex(offset)}: there is no register`)
    return word === undefined ? 0 : this.storage[word.storage]!
  }

  /** The host writes the word at `offset`. Returns the register that may have changed. */
  write(offset: number, value: number): Declared | undefined {
    const word = this.words[offset >>> 2]
    if (word === undefined) {
      this.diagnostics.report(
        'register-access',
        `host wrote ${hex(value >>> 0)} to offset ${hex(offset)}: there is no register`,
      )
      return undefined
    }
    const { register, access, writable, storage } = word
    if (absent.includes(register)) {
      this.diagnostics.report(
        'register-access',
        `host wrote ${hex(value >>> 0)} to ${register.name}, which this controller does not have`,
      )
      return undefined
    }
    if (access === 'ro') {
      this.diagnostics.report(
        'register-access',
        `host wrote ${hex(value >>> 0)} to ${register.name}, which is read-only`,
      )
      return undefined
    }
    const kept = (value & ~writable) >>> 0
    if (kept !== 0)
      this.diagnostics.report(
        'reserved-bits',
        `host wrote ${hex(kept)} to bits of ${register.name} that are read-only or reserved`,
      )
    this.version++
    const before = this.storage[storage]!
    const given = value & writable
    if (access === 'rw') this.storage[storage] = (before & ~writable) | given
    else this.storage[storage] = access === 'rw1s' ? before | given : before & ~given
    return register
  }

  /** Whether a 64-bit register begins at `offset`. */
  isWide(offset: number): boolean {
    const register = this.words[offset >>> 2]?.register
    return register !== undefined && register.widthBits === 64 && register.offset === offset
  }

  /** A register's value, as seen by the controller itself. */
  get32(register: Declared): number {
    return this.storage[register.offset >>> 2]!
  }

  get64(register: Declared): bigint {
    const at = register.offset >>> 2
    return BigInt(this.storage[at]!) | (BigInt(this.storage[at + 1]!) << 32n)
  }

  /** Sets a whole register without access rules, for the controller itself. */
  set(register: Declared, value: number | bigint): void {
    this.version++
    const at = register.offset >>> 2
    this.storage[at] = Number(BigInt(value) & 0xffff_ffffn)
    if (register.widthBits === 64) this.storage[at + 1] = Number(BigInt(value) >> 32n)
  }

  private declare(register: Declared): void {
    const { offset, widthBits, access, name } = register
    let writable = 0n
    for (const [field, { msb, lsb }] of Object.entries(register.fields)) {
      // CSTS is a status register; the host may clear only this bit.
      if (name === CSTS.name && field !== CSTS.NSSRO.name) continue
      writable |= ((1n << BigInt(msb - lsb + 1)) - 1n) << BigInt(lsb)
    }
    for (let half = 0; half < widthBits / 32; half++) {
      const index = (offset >>> 2) + half
      const storage = name === INTMC.name ? INTMS.offset >>> 2 : index
      const mask = Number((writable >> BigInt(32 * half)) & 0xffff_ffffn)
      this.words[index] = { register, access, writable: mask, storage }
    }
  }
}
