import type { Bar } from '@gpunvme/nvme-spec/transport'
import type { Channel } from './channel.js'
import type { PlacedBar } from './places.js'

const ALL_ONES_32 = 0xffff_ffff
const ALL_ONES_64 = 0xffff_ffff_ffff_ffffn

/**
 * Registers of a BAR. A read is a line that waits for its answer; a write is a line that does not, since writes are
 * posted.
 */
export function registerBar(
  channel: Channel,
  { address, lengthBytes }: PlacedBar,
  isGone: () => boolean,
  onWrite: () => void,
): Bar {
  const at = (offset: number, widthBytes: 4 | 8) => {
    if (Number.isInteger(offset) && offset >= 0 && offset % widthBytes === 0 && offset < lengthBytes)
      return address + offset
    throw new RangeError(`register access: expected a multiple of ${widthBytes} below ${lengthBytes}, got ${offset}`)
  }
  const write32 = (offset: number, value: number) => {
    const place = at(offset, 4)
    onWrite()
    if (!isGone()) channel.post(`writel ${place} ${value}`)
  }
  return {
    lengthBytes,
    read32(offset) {
      const place = at(offset, 4)
      const value = isGone() ? undefined : channel.ask(`readl ${place}`)
      return value === undefined ? ALL_ONES_32 : Number(value)
    },
    read64(offset) {
      const place = at(offset, 8)
      const value = isGone() ? undefined : channel.ask(`readq ${place}`)
      return value === undefined ? ALL_ONES_64 : BigInt(value)
    },
    write32,
    write64(offset, value) {
      at(offset, 8)
      write32(offset, Number(value & 0xffff_ffffn))
      write32(offset + 4, Number(value >> 32n))
    },
  }
}
