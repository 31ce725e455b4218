/** One CRC-32 per chunk, layer after layer, as little-endian 32-bit words. */
export function encodeChunkTable(crcs: Uint32Array): Uint8Array {
  const encoded = new DataView(new ArrayBuffer(crcs.byteLength))
  crcs.forEach((crc, index) => encoded.setUint32(index * 4, crc, true))
  return new Uint8Array(encoded.buffer)
}

export function decodeChunkTable(encoded: Uint8Array): Uint32Array {
  const view = new DataView(encoded.buffer, encoded.byteOffset, encoded.byteLength)
  return Uint32Array.from({ length: encoded.byteLength / 4 }, (_, index) => view.getUint32(index * 4, true))
}
