import { DOORBELL_BASE } from '@gpunvme/nvme-spec'
import type { Controller } from '../controller/controller.js'
import type { Device } from '../controller/device.js'
import type { SharedDoorbells } from './shared-doorbells.js'

/**
 * BAR0 as seen by a client, accessed with exactly the client's width: 32 bits, and 64 bits as two accesses if a
 * register or structure has 64. The MSI-X Table is only stored: the client manages its own, and SET_IRQS is what
 * counts.
 */
export class ServedBar {
  readonly lengthBytes: number
  /** Doorbells in memory that the client maps, if enabled. */
  doorbells: SharedDoorbells | undefined
  private readonly device: Device
  private readonly controller: Controller
  private readonly tableOffset: number
  private readonly table: Uint32Array

  constructor(device: Device, controller: Controller) {
    const { bar, msix } = device.pci
    this.device = device
    this.controller = controller
    this.lengthBytes = bar.lengthBytes
    this.tableOffset = bar.tableOffset
    this.table = new Uint32Array(msix.tableBytes / 4)
    this.reset()
  }

  /** Resets to the power-on state. */
  reset(): void {
    this.table.fill(0)
    // Every vector is masked.
    for (let control = 3; control < this.table.length; control += 4) this.table[control] = 1
  }

  /** Whether an access of this width is supported; the bytes must be inside. */
  isAccess(offset: number, lengthBytes: number): boolean {
    if (lengthBytes === 4) return offset % 4 === 0
    if (lengthBytes !== 8 || offset % 8 !== 0) return false
    return offset < DOORBELL_BASE ? this.device.registers.isWide(offset) : offset >= this.tableOffset
  }

  read(offset: number, lengthBytes: number, into: DataView, at: number): void {
    into.setUint32(at, this.read32(offset), true)
    if (lengthBytes === 8) into.setUint32(at + 4, this.read32(offset + 4), true)
  }

  write(offset: number, lengthBytes: number, from: DataView, at: number): void {
    this.write32(offset, from.getUint32(at, true))
    if (lengthBytes === 8) this.write32(offset + 4, from.getUint32(at + 4, true))
  }

  private read32(offset: number): number {
    const dword = (offset - this.tableOffset) / 4
    if (dword >= 0 && dword < this.table.length && this.device.pci.answers) return this.table[dword]!
    return this.controller.read32(offset)
  }

  private write32(offset: number, value: number): void {
    const dword = (offset - this.tableOffset) / 4
    if (dword >= 0 && dword < this.table.length) this.table[dword] = value
    else if (this.doorbells !== undefined && dword < 0 && offset >= DOORBELL_BASE) this.doorbells.rung(offset, value)
    else this.controller.write32(offset, value)
  }
}
