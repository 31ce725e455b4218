const LINE_BYTES = 16
const GROUP_BYTES = 8

/**
 * Formats bytes like `hexdump -v -C`, 78 columns wide, without omitting lines: `parseHexDump` reads the result.
 * @param startOffset offset of the first byte.
 * @throws TypeError for bytes that are not a Uint8Array, RangeError for an offset that is not an integer of at least 0.
 */
export function formatHexDump(bytes: Uint8Array, startOffset = 0): string[] {
  if (!(bytes instanceof Uint8Array)) throw new TypeError('bytes: expected a Uint8Array')
  if (!Number.isSafeInteger(startOffset) || startOffset < 0)
    throw new RangeError(`startOffset: expected an integer of at least 0, got ${startOffset}`)
  const lines: string[] = []
  for (let at = 0; at < bytes.length; at += LINE_BYTES) {
    lines.push(formatLine(startOffset + at, bytes.subarray(at, at + LINE_BYTES)))
  }
  return lines
}

function formatLine(offset: number, bytes: Uint8Array): string {
  const pairs = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'))
  const left = pairs
    .slice(0, GROUP_BYTES)
    .join(' ')
    .padEnd(GROUP_BYTES * 3 - 1)
  const right = pairs
    .slice(GROUP_BYTES)
    .join(' ')
    .padEnd(GROUP_BYTES * 3 - 1)
  const text = Array.from(bytes, (byte) => (byte >= 0x20 && byte <= 0x7e ? String.fromCharCode(byte) : '.')).join('')
  return `${offset.toString(16).padStart(8, '0')}  ${left}  ${right}  |${text}|`
}
