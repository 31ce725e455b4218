/** Memory as a dump shows it: pairs of hexadecimal digits, white space where it helps to count. */
export function fromHex(text: string): DataView {
  const pairs = text.match(/[0-9a-f]{2}/g) ?? []
  return new DataView(Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16)).buffer)
}

/** Memory that is zero but for what is given: hexadecimal bytes at their offset. */
export function sparse(lengthBytes: number, at: Readonly<Record<number, string>>): DataView {
  const data = new Uint8Array(lengthBytes)
  for (const [offset, text] of Object.entries(at)) data.set(new Uint8Array(fromHex(text).buffer), Number(offset))
  return new DataView(data.buffer)
}

export function toHex(data: DataView, byteOffset = 0, lengthBytes = data.byteLength - byteOffset): string {
  const bytes = new Uint8Array(data.buffer, data.byteOffset + byteOffset, lengthBytes)
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(' ')
}

/** Memory in which a byte that nothing wrote can be told from a zero. */
export function unwritten(lengthBytes: number): DataView {
  return new DataView(new Uint8Array(lengthBytes).fill(0xa5).buffer)
}
