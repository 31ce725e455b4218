import { MsixTableEntry } from '@gpunvme/nvme-spec/pci'

const ENTRY_DWORDS = MsixTableEntry.bytes / 4
const CONTROL_DWORD = 3
const { MASKBIT } = MsixTableEntry.VECTOR_CTRL

/** The MSI-X Table and the Pending Bit Array, as BAR0 shows them (PCIe 1.2 §3.8.4). */
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

  /** As after a reset of the function: nothing in the table, every vector masked. */
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
    // Addresses are those of dwords, and of Vector Control only the mask is there.
    if (dword % ENTRY_DWORDS === 0) this.entries[dword] = value & ~3
    else if (dword % ENTRY_DWORDS === CONTROL_DWORD) this.entries[dword] = value & 1
    else this.entries[dword] = value
  }

  isMasked(vector: number): boolean {
    return MASKBIT.of(this.entries[vector * ENTRY_DWORDS + CONTROL_DWORD]!) === 1
  }

  /** Where a vector's message is written, and what. */
  message(vector: number): { readonly address: number; readonly data: number } {
    const [low, high, data] = this.entries.subarray(vector * ENTRY_DWORDS) as unknown as [number, number, number]
    return { address: high * 2 ** 32 + low, data }
  }

  /** Every vector at an address, with its own number as data, and not masked. */
  fill(address: number): void {
    for (let vector = 0; vector * ENTRY_DWORDS < this.entries.length; vector++) {
      this.setVector(vector, address, true)
    }
  }

  /** One vector at an address, with its own number as data, masked or not. */
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

  /** What was pending is over: the controller has nothing to tell any more. */
  clearPending(): void {
    this.pending.fill(0)
  }

  /** A copy of the table, for a host that writes it back after a reset. */
  save(): Uint32Array {
    return this.entries.slice()
  }

  restore(entries: Uint32Array): void {
    this.entries.set(entries)
  }
}
