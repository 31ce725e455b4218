import { readFileSync } from 'node:fs'

/** Returns whether the address is mapped in this process, from /proc/self/maps. */
export function isMapped(address: bigint): boolean {
  return readFileSync('/proc/self/maps', 'utf8')
    .trim()
    .split('\n')
    .some((line) => {
      const [from, to] = line.split(' ')[0]!.split('-')
      return BigInt(`0x${from!}`) <= address && address < BigInt(`0x${to!}`)
    })
}
