import type { RegisterWindow } from '../region-bar.js'
import type { Channel } from './channel.js'
import type { PlacedBar } from './places.js'

/**
 * Registers of a BAR, which read all ones once `isGone`. A read is a line that waits for its answer; a write is a line
 * that does not, since writes are posted.
 */
export function registerLines(
  channel: Channel,
  { address, lengthBytes }: PlacedBar,
  isGone: () => boolean,
): RegisterWindow {
  const ask = (request: string) => (isGone() ? undefined : channel.ask(request))
  return {
    lengthBytes,
    load32: (offset) => Number(ask(`readl ${address + offset}`) ?? 0xffff_ffff),
    load64: (offset) => BigInt(ask(`readq ${address + offset}`) ?? 0xffff_ffff_ffff_ffffn),
    store32(offset, value) {
      if (!isGone()) channel.post(`writel ${address + offset} ${value}`)
    },
  }
}
