/** The polynomial of CRC-32/ISO-HDLC without x^32, bit-reversed as its registers are: bit 31 is x^0. */
const POLYNOMIAL = 0xedb8_8320
const ONE = 0x8000_0000
const X = 0x4000_0000

/**
 * Combines the CRC-32s of consecutive parts: the first is shifted by the bits that follow it, which multiplies its
 * polynomial by that power of x.
 * @param lengthBytes length of the following part.
 */
export function appendCrc(crc: number, following: number, lengthBytes: number): number {
  return (product(crc, powerOfX(lengthBytes * 8)) ^ following) >>> 0
}

/** Returns x to this power, modulo the polynomial. */
function powerOfX(exponent: number): number {
  let power = ONE
  let square = X
  for (let left = exponent; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) power = product(power, square)
    square = product(square, square)
  }
  return power
}

/** Multiplies two polynomials over GF(2), modulo the polynomial. */
function product(a: number, b: number): number {
  let sum = 0
  let shifted = b
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) sum ^= shifted
    shifted = (shifted & 1) === 0 ? shifted >>> 1 : (shifted >>> 1) ^ POLYNOMIAL
  }
  return sum >>> 0
}
