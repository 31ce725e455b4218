import { MsixTableEntry } from '@gpunvme/nvme-spec/pci'

const ENTRY_DWORDS = MsixTableEntry.bytes / 4
const CONTROL_DWORD = 3
const { MASKBIT } = MsixTableEntry.VECTOR_CTRL

/** The MSI-X Table and the Pending Bit Array in BAR0 (PCIe 1.2 §3.8.4). */
export class MsixTable {
  private readonly entries: Uint32Array
  private readonly pending: Uint32Array

  constructor(vectors: number) {
    this.entries = new Uint32Array(vectors * ENTRY_DWORDS)
    // The array is a whole number of 64-bit words.
    this.pending = new Uint32Array(Math.ceil(vectors / 64) * 2)
    this.reset()
  }

  get tableBytes(): number {
    return this.entries.byteLength
  }

  get pendingBytes(): number {
    return this.pending.byteLength
  }

  /** Clears the table and masks all vectors, as after a function reset. */
  reset(): void {
    this.entries.fill(0)
    this.pending.fill(0)
    for (let at = CONTROL_DWORD; at < this.entries.length; at += ENTRY_DWORDS) {
      this.entries[at] = 1 << MASKBIT.lsb
    }
  }

  readTable(offset: number): number {
    return this.entries[offset / 4]!
  }

  readPending(offset: number): number {
    return this.pending[offset / 4]!
  }

  writeTable(offset: number, value: number): void {
    const dword = offset / 4
    // Addresses are dword-aligned; Vector Control has only the mask bit.
    if (dword % ENTRY_DWORDS === 0) this.entries[dword] = value & ~3
    else if (dword % ENTRY_DWORDS === CONTROL_DWORD) this.entries[dword] = value & 1
    else this.entries[dword] = value
  }

  isMasked(vector: number): boolean {
    return MASKBIT.of(this.entries[vector * ENTRY_DWORDS + CONTROL_DWORD]!) === 1
  }

  /** Returns address and data of a vector's message. */
  message(vector: number): { readonly address: number; readonly data: number } {
    const [low, high, data] = this.entries.subarray(vector * ENTRY_DWORDS) as unknown as [number, number, number]
    return { address: high * 2 ** 32 + low, data }
  }

  /** Sets all vectors to an address, with their number as data, unmasked. */
  fill(address: number): void {
    for (let vector = 0; vector * ENTRY_DWORDS < this.entries.length; vector++) {
      this.setVector(vector, address, true)
    }
  }

  /** Sets one vector to an address, with its number as data, masked or not. */
  setVector(vector: number, address: number, isOn: boolean): void {
    this.entries.set([address, 0, vector, isOn ? 0 : 1 << MASKBIT.lsb], vector * ENTRY_DWORDS)
  }

  hasPending(): boolean {
    return this.pending.some((word) => word !== 0)
  }

  isPending(vector: number): boolean {
    return ((this.pending[vector >>> 5]! >>> (vector & 31)) & 1) === 1
  }

  setPending(vector: number, isPending: boolean): void {
    const bit = 1 << (vector & 31)
    if (isPending) this.pending[vector >>> 5]! |= bit
    else this.pending[vector >>> 5]! &= ~bit
  }

  /** Clears pending bits: the controller has nothing to signal any more. */
  clearPending(): void {
    this.pending.fill(0)
  }

  /** Returns a copy of the table, for a host that restores it after a reset. */
  save(): Uint32Array {
    return this.entries.slice()
  }

  restore(entries: Uint32Array): void {
    this.entries.set(entries)
  }
}
