import { crc32c } from '@gpunvme/nvme-spec/crc32c'

/** Continues a checksum with a 32-bit number, little-endian. */
export function crc32cNumber(crc: number, value: number): number {
  return crc32c(crc, Uint8Array.of(value, value >>> 8, value >>> 16, value >>> 24))
}
