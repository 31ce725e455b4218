import type { ConfigSpace } from '@gpunvme/nvme-spec/transport'
import { MsixCapability, PCIE_CONFIG_BYTES, PciHeader } from '@gpunvme/nvme-spec/pci'
import type { Device } from '../controller/device.js'
import { MSI_X } from './layout.js'

/** Configuration space, as accessed by the host. */
export class HostConfigSpace implements ConfigSpace {
  private readonly device: Device

  constructor(device: Device) {
    this.device = device
  }

  /** @throws RangeError if the offset is not a multiple of the width inside the 4096 bytes. */
  read(offset: number, widthBytes: 1 | 2 | 4): number {
    checkConfigAccess(offset, widthBytes)
    const { pci, interrupts } = this.device
    if (!pci.isOnBus) return 2 ** (8 * widthBytes) - 1
    const status = PciHeader.STS.offset
    // Interrupt Status follows the pin.
    const isStatus = offset <= status && status < offset + widthBytes && interrupts.isPinWanted
    const bit = isStatus ? 2 ** (8 * (status - offset) + PciHeader.STS.IS.lsb) : 0
    return pci.config.read(offset, widthBytes) + bit
  }

  /** @throws RangeError as `read`. */
  write(offset: number, widthBytes: 1 | 2 | 4, value: number): void {
    checkConfigAccess(offset, widthBytes)
    const { pci } = this.device
    if (!pci.isOnBus) return
    const control = MSI_X + MsixCapability.MXC.offset
    if (offset < control + 2 && control < offset + widthBytes) pci.hostManagesMessages = true
    pci.writeConfig(offset, widthBytes, value)
  }
}

/** @throws RangeError if the offset is not a multiple of the width inside the 4096 bytes. */
export function checkConfigAccess(offset: number, widthBytes: number): void {
  if (![1, 2, 4].includes(widthBytes) || !Number.isInteger(offset) || offset % widthBytes !== 0 || offset < 0) {
    throw new RangeError(
      `configuration space: expected a multiple of the width, 1, 2 or 4, got ${offset} (${widthBytes})`,
    )
  }
  if (offset >= PCIE_CONFIG_BYTES) {
    throw new RangeError(`configuration space: expected an offset below ${PCIE_CONFIG_BYTES}, got ${offset}`)
  }
}
