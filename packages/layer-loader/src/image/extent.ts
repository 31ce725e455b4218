import { ALIGNMENT_BYTES, DATA_START_BYTES, type CheckedExtent, type Extent } from './format.js'
import type { ImageValue } from './json.js'

/** Hexadecimal digits of a CRC-32. */
export const CRC_DIGITS = 8

/** Always eight hexadecimal digits, so that the length of a manifest does not depend on its checksums. */
export function encodeCrc(crc: number): string {
  return crc.toString(16).padStart(CRC_DIGITS, '0')
}

function readCrc(value: ImageValue): number {
  return Number.parseInt(value.hex(CRC_DIGITS), 16)
}

export interface EncodedExtent {
  readonly offsetBytes: number
  readonly lengthBytes: number
  readonly crc32: string
}

export function encodeExtent({ offsetBytes, lengthBytes, crc32 }: CheckedExtent): EncodedExtent {
  return { offsetBytes, lengthBytes, crc32: encodeCrc(crc32) }
}

/**
 * Reads `offsetBytes` and `lengthBytes` of an object: an aligned extent inside the used part of the namespace.
 * @throws ImageContentError
 */
export function readExtent(value: ImageValue, usedEndBytes: number): Extent {
  const offset = value.member('offsetBytes')
  const offsetBytes = offset.integer(DATA_START_BYTES, usedEndBytes)
  if (offsetBytes % ALIGNMENT_BYTES !== 0) throw offset.error(`a multiple of ${ALIGNMENT_BYTES}`)
  const lengthBytes = value.member('lengthBytes').integer(0, usedEndBytes - offsetBytes)
  return { offsetBytes, lengthBytes }
}

/** @throws ImageContentError */
export function readCheckedExtent(value: ImageValue, usedEndBytes: number): CheckedExtent {
  return { ...readExtent(value, usedEndBytes), crc32: readCrc(value.member('crc32')) }
}
