import { ggmlTypeByName, ggmlTypeId } from './ggml-types.js'
import { ARRAY_ID, scalarByName, STRING_ID, type GgufScalarName } from './gguf-value-types.js'
import { elementsOf } from './shape.js'

/** A metadata value to write. A number needs its type, which readers check: most expect uint32 and float32. */
export type GgufValue =
  | string
  | boolean
  | { readonly type: Exclude<GgufScalarName, 'bool'>; readonly value: number | bigint }
  | { readonly arrayOf: 'string'; readonly items: readonly string[] }
  | { readonly arrayOf: GgufScalarName; readonly items: readonly (number | bigint | boolean)[] }

/** Metadata as encoded in another GGUF: consecutive entries without general.alignment. */
export interface EncodedGgufMetadata {
  readonly count: number
  readonly bytes: Uint8Array
}

/** A tensor to list in a header. */
export interface GgufTensorSpec {
  readonly name: string
  /** A ggml type: 'F32', 'Q4_0'; an opaque one: 'type 77', 'Q4_2 (retired)'. */
  readonly dtype: string
  /** Outermost dimension first, at most 4. */
  readonly shape: readonly number[]
  /** Length of an opaque type, whose shape does not determine it; ignored for all others. */
  readonly lengthBytes?: number
}

/** Location that the writer chose for a tensor. */
export interface GgufTensorPlace {
  /** Offset in the file. */
  readonly offsetBytes: number
  readonly lengthBytes: number
}

/** An encoded header, padded up to the data section, and the location of each tensor in the given order. */
export interface GgufHeader {
  readonly bytes: Uint8Array
  readonly places: readonly GgufTensorPlace[]
}

const MAGIC = Buffer.from('GGUF')
const VERSION = 3

/**
 * Lays out a GGUF version 3, little-endian: tensors in the given order, each at a multiple of `alignment`.
 *
 * @param alignment in bytes; a power of two. A value other than GGUF's default of 32 is recorded in general.alignment.
 * @throws TypeError or RangeError for content that no reader would accept.
 */
export function layOutGguf(
  metadata: ReadonlyMap<string, GgufValue> | EncodedGgufMetadata,
  tensors: readonly GgufTensorSpec[],
  alignment = 32,
): GgufHeader {
  if (!Number.isSafeInteger(Math.log2(alignment)) || alignment > 2 ** 31) {
    throw new RangeError(`alignment: expected a power of two of at most 2^31, got ${alignment}`)
  }
  if (!('bytes' in metadata) && metadata.has('general.alignment')) {
    throw new TypeError('metadata: expected no general.alignment, which the option `alignment` sets')
  }
  const given = 'bytes' in metadata ? metadata : encodeMetadata(metadata)
  const ours = encodeMetadata(alignment === 32 ? [] : [['general.alignment', { type: 'uint32', value: alignment }]])
  const parts: Uint8Array[] = [MAGIC, scalarBytes('uint32', VERSION)]
  parts.push(scalarBytes('uint64', tensors.length), scalarBytes('uint64', given.count + ours.count))
  parts.push(given.bytes, ours.bytes)

  const names = new Set<string>()
  const lengths = tensors.map((tensor) => {
    if (names.has(tensor.name)) throw new TypeError(`tensors: expected different names, got "${tensor.name}" twice`)
    names.add(tensor.name)
    return tensorLengthBytes(tensor)
  })
  let endBytes = 0
  const offsets = lengths.map((lengthBytes) => {
    const offset = alignUp(endBytes, alignment)
    endBytes = offset + lengthBytes
    return offset
  })
  tensors.forEach(({ name, dtype, shape }, index) => {
    parts.push(stringBytes(name), scalarBytes('uint32', shape.length))
    // GGUF stores the innermost dimension first.
    for (const length of shape.toReversed()) parts.push(scalarBytes('uint64', length))
    parts.push(scalarBytes('uint32', ggmlTypeId(dtype)!), scalarBytes('uint64', offsets[index]!))
  })

  const unpadded = Buffer.concat(parts)
  const bytes = Buffer.alloc(alignUp(unpadded.byteLength, alignment))
  unpadded.copy(bytes)
  const places = offsets.map((offset, index) => ({
    offsetBytes: bytes.byteLength + offset,
    lengthBytes: lengths[index]!,
  }))
  return { bytes, places }
}

/** @throws TypeError or RangeError for keys and values that GGUF cannot represent. */
function encodeMetadata(metadata: Iterable<readonly [string, GgufValue]>): EncodedGgufMetadata {
  const parts: Uint8Array[] = []
  let count = 0
  for (const [key, value] of metadata) {
    const keyBytes = Buffer.byteLength(key)
    if (keyBytes === 0 || keyBytes > 65_535) {
      throw new RangeError(`metadata: expected keys of 1 to 65535 bytes, got ${keyBytes} bytes`)
    }
    parts.push(stringBytes(key), Buffer.concat(valueBytes(key, value)))
    count++
  }
  return { count, bytes: Buffer.concat(parts) }
}

/** Returns the length of a tensor in bytes. @throws TypeError or RangeError for a tensor that GGUF cannot represent. */
export function tensorLengthBytes({ name, dtype, shape, lengthBytes: opaqueBytes }: GgufTensorSpec): number {
  const nameBytes = Buffer.byteLength(name)
  if (nameBytes === 0 || nameBytes > 63 || name.includes('\0')) {
    throw new RangeError(`tensor "${name}": expected a name of 1 to 63 bytes without NUL, got ${nameBytes} bytes`)
  }
  const known = ggmlTypeByName(dtype)
  const isOpaque = known === undefined && ggmlTypeId(dtype) !== undefined && opaqueBytes !== undefined
  if (known === undefined && !isOpaque) {
    throw new TypeError(
      `tensor "${name}": expected a current ggml type, or an opaque one and its length, got "${dtype}"`,
    )
  }
  const type = known ?? { blockElements: 1, blockBytes: 1 }
  const elements = elementsOf(shape)
  const lengthBytes = known === undefined ? opaqueBytes! : (elements / type.blockElements) * type.blockBytes
  const shapeIsSound = shape.length <= 4 && shape.every((length) => Number.isSafeInteger(length) && length > 0)
  if (!shapeIsSound || lengthBytes > Number.MAX_SAFE_INTEGER) {
    throw new RangeError(`tensor "${name}": expected up to 4 lengths above 0, got [${shape.join(', ')}]`)
  }
  if ((shape.at(-1) ?? 1) % type.blockElements !== 0) {
    throw new RangeError(
      `tensor "${name}": expected rows of a multiple of ${type.blockElements} for ${dtype}, got ${shape.at(-1) ?? 1}`,
    )
  }
  return lengthBytes
}

/** Rounds up to a multiple of `alignment`. */
function alignUp(bytes: number, alignment: number): number {
  return Math.ceil(bytes / alignment) * alignment
}

/** Encodes the type and the value. */
function valueBytes(key: string, value: GgufValue): Uint8Array[] {
  if (typeof value === 'string') return [scalarBytes('uint32', STRING_ID), stringBytes(value)]
  if (typeof value === 'boolean') return [scalarBytes('uint32', scalarByName('bool').id), scalarBytes('bool', value)]
  if ('type' in value) {
    return [scalarBytes('uint32', scalarByName(value.type).id), scalarBytes(value.type, value.value, key)]
  }
  const { arrayOf, items } = value
  const itemId = arrayOf === 'string' ? STRING_ID : scalarByName(arrayOf).id
  const head = [scalarBytes('uint32', ARRAY_ID), scalarBytes('uint32', itemId), scalarBytes('uint64', items.length)]
  if (arrayOf === 'string') return [...head, ...value.items.map(stringBytes)]
  return [...head, ...value.items.map((item) => scalarBytes(arrayOf, item, key))]
}

/** Reads the value back and compares: a value outside its type's range would be stored as another one. */
function scalarBytes(name: GgufScalarName, value: number | bigint | boolean, key = name as string): Uint8Array {
  const { sizeBytes, set, get } = scalarByName(name)
  const bytes = new Uint8Array(sizeBytes)
  const view = new DataView(bytes.buffer)
  if (!name.startsWith('float') && typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new RangeError(`${key}: expected an integer for ${name}, got ${value}`)
  }
  set(view, 0, value)
  const stored = get(view, 0)
  if (!name.startsWith('float') && BigInt(stored ?? -1) !== BigInt(value)) {
    throw new RangeError(`${key}: expected a value that fits in ${name}, got ${value}`)
  }
  return bytes
}

function stringBytes(text: string): Uint8Array {
  const bytes = Buffer.from(text)
  return Buffer.concat([scalarBytes('uint64', bytes.byteLength), bytes])
}
