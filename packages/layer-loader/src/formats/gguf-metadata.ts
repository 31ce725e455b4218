import type { ArraySummary, MetadataValue } from './model.js'
import type { GgufReader } from './gguf-reader.js'
import { ARRAY_ID, scalarById, STRING_ID, type GgufScalar } from './gguf-value-types.js'
import type { FormatLimits } from './limits.js'
import { quote } from './quote.js'
import { decodeStrictUtf8 } from './strict-utf8.js'

/** The shortest entry: a length, one byte of key, a type, one byte of value. */
export const MIN_ENTRY_BYTES = 8 + 1 + 4 + 1

/** Bytes counted per item of a kept array, so that millions of tiny items reach the limit. */
const KEPT_ITEM_BYTES = 16

const DEFAULT_ALIGNMENT = 32

/** The metadata section: its values, and the alignment of the rest of the file, in bytes. */
export interface GgufMetadata {
  readonly values: ReadonlyMap<string, MetadataValue>
  readonly alignment: number
  /** Location of each entry in the source, including key and type. Entries are contiguous. */
  readonly places: ReadonlyMap<string, { readonly offsetBytes: number; readonly lengthBytes: number }>
}

/** Reads `count` entries. The caller has checked `count` against the limits and the size of the source. */
export async function readMetadata(reader: GgufReader, count: number, limits: FormatLimits): Promise<GgufMetadata> {
  const values = new Map<string, MetadataValue>()
  const places = new Map<string, { offsetBytes: number; lengthBytes: number }>()
  const section = new MetadataSection(reader, limits)
  let alignment = DEFAULT_ALIGNMENT
  for (let index = 0; index < count; index++) {
    const keyPosition = reader.positionBytes
    const key = await section.key(index)
    if (values.has(key)) {
      throw reader.error('DUPLICATE_KEY', keyPosition, `metadata key ${quote(key)} appears twice`)
    }
    await reader.ahead()
    const typePosition = reader.positionBytes
    const typeId = reader.u32(`type of ${quote(key)}`)
    const valuePosition = reader.positionBytes
    const value = await section.value(quote(key), typeId, typePosition)
    if (key === 'general.alignment') alignment = checkAlignment(reader, typeId, typePosition, value, valuePosition)
    values.set(key, value)
    places.set(key, { offsetBytes: keyPosition, lengthBytes: reader.positionBytes - keyPosition })
  }
  return { values, alignment, places }
}

function checkAlignment(
  reader: GgufReader,
  typeId: number,
  typePosition: number,
  value: MetadataValue,
  valuePosition: number,
): number {
  const type = scalarById(typeId)?.name
  if (type !== 'uint32') {
    throw reader.error('ALIGNMENT', typePosition, `general.alignment is of type ${type ?? typeId}, not uint32`)
  }
  const alignment = Number(value)
  // A power of two has one bit, which is clear in the number below it.
  if (alignment === 0 || (alignment & (alignment - 1)) !== 0) {
    throw reader.error('ALIGNMENT', valuePosition, `general.alignment is ${alignment}, not a power of two`)
  }
  return alignment
}

class MetadataSection {
  readonly #reader: GgufReader
  readonly #limits: FormatLimits
  #keptBytes = 0

  constructor(reader: GgufReader, limits: FormatLimits) {
    this.#reader = reader
    this.#limits = limits
  }

  async key(index: number): Promise<string> {
    const reader = this.#reader
    await reader.ahead()
    const position = reader.positionBytes
    const lengthBytes = reader.u64(`key length of metadata entry ${index}`)
    if (lengthBytes === 0 || lengthBytes > this.#limits.maxKeyBytes) {
      const expected = `expected 1 to ${this.#limits.maxKeyBytes}`
      throw reader.error('KEY', position, `the key of metadata entry ${index} has ${lengthBytes} bytes; ${expected}`)
    }
    this.#keep(lengthBytes, position)
    const key = decodeStrictUtf8(await reader.bytes(lengthBytes, `key of metadata entry ${index}`))
    if (key !== undefined) return key
    throw reader.error('KEY', position, `the key of metadata entry ${index} is not UTF-8`)
  }

  /** @param key quoted for messages, here and in the methods below. */
  async value(key: string, typeId: number, typePosition: number): Promise<MetadataValue> {
    await this.#reader.ahead()
    const type = this.#type(key, typeId, typePosition)
    if (type === 'string') return this.#string(key)
    if (type === 'array') return this.#array(key, 1, true)
    return this.#scalar(key, type)
  }

  async #string(key: string): Promise<string> {
    const position = this.#reader.positionBytes
    const lengthBytes = this.#reader.u64(`string length in ${key}`)
    this.#reader.require(lengthBytes, `string in ${key}`)
    this.#keep(lengthBytes, position)
    return (await this.#reader.bytes(lengthBytes, `string in ${key}`)).toString('utf8')
  }

  #scalar(key: string, type: GgufScalar): number | bigint | boolean {
    const position = this.#reader.positionBytes
    const value = this.#reader.field(type.sizeBytes, `value of ${key}`, type.get)
    if (value !== undefined) return value
    throw this.#reader.error('VALUE', position, `${key} is a ${type.name} that is neither 0 nor 1`)
  }

  /** Returns an array if it is short enough to keep, else a summary. Inside a summary, nothing is kept. */
  async #array(key: string, depth: number, mayKeep: boolean): Promise<readonly MetadataValue[] | ArraySummary> {
    const reader = this.#reader
    const { maxNestingDepth, maxArrayItems } = this.#limits
    const typePosition = reader.positionBytes
    if (depth > maxNestingDepth) {
      throw reader.error('NESTING', typePosition, `arrays in ${key} are nested deeper than ${maxNestingDepth}`)
    }
    const item = this.#type(key, reader.u32(`item type of ${key}`), typePosition)
    const count = reader.u64(`item count of ${key}`)
    // The minimum length of the items: a count that exceeds the file fails here, without reading.
    reader.require(count * minBytesOf(item), `items of ${key}`)
    if (mayKeep && count <= maxArrayItems) return this.#items(key, item, count, depth)
    await this.#skipItems(key, item, count, depth)
    return { arrayOf: typeof item === 'string' ? item : item.name, count }
  }

  async #items(key: string, item: ValueType, count: number, depth: number): Promise<readonly MetadataValue[]> {
    const items: MetadataValue[] = []
    for (let index = 0; index < count; index++) {
      this.#keep(KEPT_ITEM_BYTES, this.#reader.positionBytes)
      if (!this.#reader.isAhead) await this.#reader.ahead()
      if (item === 'string') items.push(await this.#string(key))
      else if (item === 'array') items.push(await this.#array(key, depth + 1, true))
      else items.push(this.#scalar(key, item))
    }
    return items
  }

  async #skipItems(key: string, item: ValueType, count: number, depth: number): Promise<void> {
    const reader = this.#reader
    const what = `item of ${key}`
    if (typeof item === 'object') {
      reader.skip(count * item.sizeBytes, what)
      return
    }
    for (let left = count; left > 0; left--) {
      if (!reader.isAhead) await reader.ahead()
      if (item === 'string') reader.skip(reader.u64(what), what)
      else await this.#array(key, depth + 1, false)
    }
  }

  #type(key: string, typeId: number, position: number): ValueType {
    if (typeId === STRING_ID) return 'string'
    if (typeId === ARRAY_ID) return 'array'
    const type = scalarById(typeId)
    if (type !== undefined) return type
    throw this.#reader.error('VALUE_TYPE', position, `${key} has the metadata type ${typeId}`)
  }

  #keep(lengthBytes: number, position: number): void {
    this.#keptBytes += lengthBytes
    if (this.#keptBytes <= this.#limits.maxMetadataBytes) return
    const headline = `the metadata takes more than the limit of ${this.#limits.maxMetadataBytes} bytes (maxMetadataBytes)`
    throw this.#reader.error('LIMIT', position, headline)
  }
}

type ValueType = 'string' | 'array' | GgufScalar

/** An empty string is its length; an empty array is a type and a count. */
function minBytesOf(type: ValueType): number {
  return type === 'string' ? 8 : type === 'array' ? 12 : type.sizeBytes
}
