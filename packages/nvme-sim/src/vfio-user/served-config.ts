import { MsixCapability, PCIE_CONFIG_BYTES } from '@gpunvme/nvme-spec/pci'
import type { Device } from '../controller/device.js'
import { HostConfigSpace } from '../pci/host-config.js'
import { MSI_X } from '../pci/layout.js'

const { MXC } = MsixCapability
const CONTROL = MSI_X + MXC.offset
const CONTROL_WRITABLE = (1 << MXC.MXE.lsb) | (1 << MXC.FM.lsb)

/**
 * Configuration space as seen by a client. MSI-X Message Control is only stored: SET_IRQS decides whether there are
 * messages. Everything else has its usual effect: FLR resets, D3hot sleeps.
 */
export class ServedConfig {
  readonly lengthBytes = PCIE_CONFIG_BYTES
  private readonly host: HostConfigSpace
  /** The writable bits of Message Control. */
  private control = 0

  constructor(device: Device) {
    this.host = new HostConfigSpace(device)
  }

  /** Resets to the power-on state. */
  reset(): void {
    this.control = 0
  }

  /** Reads any bytes. */
  read(offset: number, lengthBytes: number, into: DataView, at: number): void {
    const shift = at - offset
    for (let next = offset, end = offset + lengthBytes; next < end;) {
      const width = widthAt(next, end)
      const value = this.host.read(next, width)
      if (width === 4) into.setUint32(next + shift, value, true)
      else if (width === 2) into.setUint16(next + shift, value, true)
      else into.setUint8(next + shift, value)
      next += width
    }
    this.showControl(offset, lengthBytes, into, shift)
  }

  /** Writes bytes of one dword; returns false if they are not in one dword. */
  write(offset: number, lengthBytes: number, from: DataView, at: number): boolean {
    if (![1, 2, 4].includes(lengthBytes) || (offset % 4) + lengthBytes > 4) return false
    const end = offset + lengthBytes
    if (offset < CONTROL + 2 && CONTROL < end) {
      for (let byte = Math.max(offset, CONTROL); byte < Math.min(end, CONTROL + 2); byte++) {
        const lsb = 8 * (byte - CONTROL)
        const given = from.getUint8(at + byte - offset) << lsb
        this.control = ((this.control & ~(0xff << lsb)) | given) & CONTROL_WRITABLE
      }
      // The other bits of that dword are read-only.
      return true
    }
    for (let next = offset; next < end;) {
      const width = widthAt(next, end)
      const from8 = at + next - offset
      const value =
        width === 4 ? from.getUint32(from8, true) : width === 2 ? from.getUint16(from8, true) : from.getUint8(from8)
      this.host.write(next, width, value)
      next += width
    }
    return true
  }

  private showControl(offset: number, lengthBytes: number, into: DataView, shift: number): void {
    const from = Math.max(offset, CONTROL)
    const end = Math.min(offset + lengthBytes, CONTROL + 2)
    for (let byte = from; byte < end; byte++) {
      const lsb = 8 * (byte - CONTROL)
      const shown = into.getUint8(byte + shift)
      // A device that has left the bus reads all ones.
      if (shown === 0xff) continue
      const writable = (CONTROL_WRITABLE >>> lsb) & 0xff
      into.setUint8(byte + shift, (shown & ~writable) | ((this.control >>> lsb) & writable))
    }
  }
}

/** Returns the widest access at `offset` that configuration space supports. */
function widthAt(offset: number, end: number): 1 | 2 | 4 {
  if (offset % 4 === 0 && end - offset >= 4) return 4
  return offset % 2 === 0 && end - offset >= 2 ? 2 : 1
}
