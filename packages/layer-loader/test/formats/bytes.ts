/** Little-endian fields, for files written out byte by byte. */
export const u8 = (value: number): Uint8Array => Uint8Array.of(value)

export function u32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

export function u64(value: number | bigint): Uint8Array {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}

export const zeros = (length: number): Uint8Array => new Uint8Array(length)

export const ascii = (text: string): Uint8Array => Buffer.from(text, 'latin1')

export const concat = (...parts: readonly Uint8Array[]): Uint8Array => Buffer.concat(parts)

/** Encodes a GGUF string: its length in bytes, then its bytes in Latin-1. */
export const text = (value: string): Uint8Array => concat(u64(value.length), ascii(value))

/** Encodes the first 24 bytes of a GGUF. */
export const ggufHead = (tensors: number | bigint, entries: number | bigint, version = 3): Uint8Array =>
  concat(ascii('GGUF'), u32(version), u64(tensors), u64(entries))

/** Encodes a metadata entry: key, type, value. */
export const entry = (key: string, type: number, ...value: readonly Uint8Array[]): Uint8Array =>
  concat(text(key), u32(type), ...value)

/** Encodes the head of an array value: type of the items, count. */
export const array = (itemType: number, count: number | bigint): Uint8Array => concat(u32(itemType), u64(count))

/** Encodes an entry of the tensor table; dimensions as stored, innermost first. */
export const info = (
  name: string,
  dimensions: readonly (number | bigint)[],
  type: number,
  offset: number | bigint,
): Uint8Array => concat(text(name), u32(dimensions.length), ...dimensions.map(u64), u32(type), u64(offset))

/** Appends zeros up to a length, as padding and data. */
export const padTo = (lengthBytes: number, bytes: Uint8Array): Uint8Array =>
  concat(bytes, zeros(lengthBytes - bytes.byteLength))

/** Encodes a safetensors file: the unchanged header in Latin-1, then this many bytes of zeros. */
export const safetensors = (header: string, dataBytes = 0): Uint8Array =>
  concat(u64(header.length), ascii(header), zeros(dataBytes))

/** Encodes a safetensors file of tensors of one byte each. */
export function shard(...names: readonly string[]): Uint8Array {
  const entries = names.map((name, at) => `"${name}":{"dtype":"U8","shape":[1],"data_offsets":[${at},${at + 1}]}`)
  return safetensors(`{${entries.join(',')}}`, names.length)
}
