/** Parses a number from 0 to 255, as '2', '0x02' or '02h'; undefined for anything else. */
export function byteNumber(word: string): number | undefined {
  const [, hex] = /^([0-9a-f]+)h$/i.exec(word) ?? []
  const value = hex !== undefined ? Number.parseInt(hex, 16) : /^(?:\d+|0x[0-9a-f]+)$/i.test(word) ? Number(word) : NaN
  return value <= 0xff ? value : undefined
}
