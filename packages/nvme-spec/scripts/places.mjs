// Formats the places of rows, for the documentation of declarations in editors and on the site.

/** Formats the bits of a row in a word: '15:14', '3'. @type {(row: { msb: number, lsb: number }) => string} */
export function bitPlace({ msb, lsb }) {
  return msb === lsb ? `${lsb}` : `${msb}:${lsb}`
}

/** @typedef {{ offset: number, lengthBytes: number, msb: number, lsb: number }} Place */

/** Formats the bytes of a field in a structure, the last one first: '257:256'. @type {(field: Place) => string} */
export function bytePlace(field) {
  const { offset, lengthBytes } = field
  const last = offset + lengthBytes - 1
  const isPart = field.msb - field.lsb + 1 < lengthBytes * 8
  return `${last === offset ? offset : `${last}:${offset}`}${isPart ? ` bits ${bitPlace(field)}` : ''}`
}

/** Formats a field's Command Dword and bits, or its dwords: '12, 15:0', '11:10'. @type {(field: Place) => string} */
export function commandPlace({ offset, lengthBytes, msb, lsb }) {
  const dword = offset >> 2
  if (lengthBytes > 4) return `${dword + lengthBytes / 4 - 1}:${dword}`
  const shift = (offset & 3) * 8
  return `${dword}, ${bitPlace({ msb: msb + shift, lsb: lsb + shift })}`
}
