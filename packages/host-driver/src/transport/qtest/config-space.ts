import type { ConfigSpace } from '@gpunvme/nvme-spec/transport'
import { PCI_CONFIG_BYTES } from '@gpunvme/nvme-spec/pci'
import type { Channel } from './channel.js'

/** Configuration mechanism 1: the location is written to one port, and accessed through the other. */
const CONFIG_ADDRESS = 0xcf8
const CONFIG_DATA = 0xcfc

const letters = { 1: 'b', 2: 'w', 4: 'l' } as const

/**
 * Configuration space of the function in a slot of bus 0: its first 256 bytes, all that ports can access. A removed
 * function reads all ones.
 */
export function configSpace(channel: Channel, slot: number, isGone: () => boolean): ConfigSpace {
  /** Selects a register; returns the port with the bytes at `offset`. */
  const select = (offset: number, widthBytes: 1 | 2 | 4) => {
    if (!(Number.isInteger(offset) && offset >= 0 && offset % widthBytes === 0 && offset < PCI_CONFIG_BYTES))
      throw new RangeError(
        `configuration space: expected a multiple of ${widthBytes} below ${PCI_CONFIG_BYTES}, got ${offset}`,
      )
    channel.post(`outl ${CONFIG_ADDRESS} ${0x8000_0000 + (slot << 11) + (offset & ~3)}`)
    return CONFIG_DATA + (offset & 3)
  }
  return {
    read(offset, widthBytes) {
      const port = select(offset, widthBytes)
      const value = isGone() ? undefined : channel.ask(`in${letters[widthBytes]} ${port}`)
      return value === undefined ? 2 ** (8 * widthBytes) - 1 : Number(value)
    },
    write(offset, widthBytes, value) {
      const port = select(offset, widthBytes)
      // Not posted: later accesses depend on changes of BARs or Bus Master Enable.
      if (!isGone()) channel.ask(`out${letters[widthBytes]} ${port} ${value}`)
    },
  }
}
