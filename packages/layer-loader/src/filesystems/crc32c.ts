/** CRC-32C: the polynomial of Castagnoli, 1EDC6F41h, reflected (RFC 3720 §12.1). */
const POLYNOMIAL = 0x82f63b78

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1
  return crc
})

/** Continues a checksum like Linux's crc32c(): neither input nor output is inverted. */
export function crc32c(crc: number, bytes: Uint8Array): number {
  for (const byte of bytes) crc = (crc >>> 8) ^ table[(crc ^ byte) & 0xff]!
  return crc >>> 0
}

/** Continues a checksum with a 32-bit number, little-endian. */
export function crc32cNumber(crc: number, value: number): number {
  return crc32c(crc, Uint8Array.of(value, value >>> 8, value >>> 16, value >>> 24))
}
