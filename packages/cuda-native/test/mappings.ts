import { readFileSync } from 'node:fs'

/** Whether anything is mapped there in this process, by the kernel's word. */
export function isMapped(address: bigint): boolean {
  return readFileSync('/proc/self/maps', 'utf8')
    .trim()
    .split('\n')
    .some((line) => {
      const [from, to] = line.split(' ')[0]!.split('-')
      return BigInt(`0x${from!}`) <= address && address < BigInt(`0x${to!}`)
    })
}
