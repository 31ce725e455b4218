/** CRC-32C: the polynomial of Castagnoli, 1EDC6F41h, reflected (RFC 3720 §12.1). */
const POLYNOMIAL = 0x82f63b78

const table = /*#__PURE__*/ makeTable()

function makeTable(): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1
    return crc
  })
}

/**
 * Continues a CRC-32C like Linux's crc32c(): neither input nor output is inverted. The CRC-32C of RFC 3720, used for
 * NVMe/TCP digests, is `~crc32c(~0, bytes) >>> 0`. ext4 stores checksums without the final inversion.
 */
export function crc32c(crc: number, bytes: Uint8Array): number {
  for (const byte of bytes) crc = (crc >>> 8) ^ table[(crc ^ byte) & 0xff]!
  return crc >>> 0
}
