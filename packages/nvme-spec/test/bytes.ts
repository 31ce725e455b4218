/** Returns the bytes of a dump: pairs of hexadecimal digits, with white space for readability. */
export function fromHex(text: string): DataView {
  const pairs = text.match(/[0-9a-f]{2}/g) ?? []
  return new DataView(Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16)).buffer)
}

/** Returns memory that is zero except for the given hexadecimal bytes, by offset. */
export function sparse(lengthBytes: number, at: Readonly<Record<number, string>>): DataView {
  const data = new Uint8Array(lengthBytes)
  for (const [offset, text] of Object.entries(at)) data.set(new Uint8Array(fromHex(text).buffer), Number(offset))
  return new DataView(data.buffer)
}

export function toHex(data: DataView, byteOffset = 0, lengthBytes = data.byteLength - byteOffset): string {
  const bytes = new Uint8Array(data.buffer, data.byteOffset + byteOffset, lengthBytes)
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(' ')
}

/** Returns memory filled with A5h, to distinguish unwritten bytes from zeroes. */
export function unwritten(lengthBytes: number): DataView {
  return new DataView(new Uint8Array(lengthBytes).fill(0xa5).buffer)
}
