import { quote } from './quote.js'
import { safetensorsDtype } from './safetensors-dtypes.js'
import type { SafetensorsJson } from './safetensors-json.js'
import { elementsOf } from './shape.js'

/** The maximum of the frameworks that write the format. Without a limit, shapes could exceed the header. */
const MAX_DIMENSIONS = 64

/** A tensor of the header, with offsets from the start of the data. */
export interface SafetensorsEntry {
  readonly name: string
  readonly dtype: string
  readonly shape: readonly number[]
  readonly beginBytes: number
  readonly endBytes: number
  /** Position of the offsets in the header, for messages. */
  readonly offsetsPosition: number
  /** True for an unknown dtype, whose length cannot be checked against its shape. */
  readonly opaque: boolean
}

/** Reads the value after a tensor's name: exactly one each of dtype, shape and data_offsets. */
export function readEntry(json: SafetensorsJson, name: string): SafetensorsEntry {
  const entryPosition = json.at()
  let dtype: string | undefined
  let shape: readonly number[] | undefined
  let offsets: readonly number[] | undefined
  let shapePosition = 0
  let offsetsPosition = 0
  json.expect('{', 'after the tensor name')
  if (!json.accept('}')) {
    do {
      const fieldPosition = json.at()
      const field = json.string('field name')
      json.expect(':', 'after the field name')
      const seen = field === 'dtype' ? dtype : field === 'shape' ? shape : offsets
      if (!FIELDS.includes(field)) {
        throw json.error('FIELD', fieldPosition, `tensor ${quote(name)} has a field ${quote(field)}`)
      }
      if (seen !== undefined) {
        throw json.error('DUPLICATE_KEY', fieldPosition, `tensor ${quote(name)} has two fields ${quote(field)}`)
      }
      if (field === 'dtype') dtype = json.string('dtype')
      else if (field === 'shape') {
        shapePosition = json.at()
        shape = readNumbers(json, 'shape', MAX_DIMENSIONS)
      } else {
        offsetsPosition = json.at()
        offsets = readNumbers(json, 'data_offsets', 2)
      }
    } while (json.more('}', 'or "," after a field'))
  }
  const [beginBytes, endBytes] = offsets ?? []
  if (dtype === undefined || shape === undefined || beginBytes === undefined || endBytes === undefined) {
    const missing = dtype === undefined ? 'dtype' : shape === undefined ? 'shape' : 'complete data_offsets'
    throw json.error('FIELD', entryPosition, `tensor ${quote(name)} has no ${missing}`)
  }
  if (beginBytes > endBytes) {
    const headline = `tensor ${quote(name)} ends at ${endBytes}, before it begins at ${beginBytes}`
    throw json.error('LENGTH', offsetsPosition, headline)
  }
  const known = safetensorsDtype(dtype)
  if (known !== undefined) {
    const expected = lengthOf(json, name, shape, shapePosition, known.bits)
    if (expected !== endBytes - beginBytes) {
      const headline = `tensor ${quote(name)} takes ${expected} bytes as ${quote(dtype)} [${shape.join(', ')}]`
      throw json.error('LENGTH', offsetsPosition, `${headline}, but has ${endBytes - beginBytes}`)
    }
  }
  // The string of the table, not the one that was read: half a million tensors then share one string.
  return {
    name,
    dtype: known?.name ?? dtype,
    shape,
    beginBytes,
    endBytes,
    offsetsPosition,
    opaque: known === undefined,
  }
}

const FIELDS: readonly string[] = ['dtype', 'shape', 'data_offsets']

function readNumbers(json: SafetensorsJson, what: string, limit: number): number[] {
  const position = json.at()
  const numbers: number[] = []
  json.expect('[', `before the ${what}`)
  if (json.accept(']')) return numbers
  do {
    if (numbers.length === limit) throw json.error('FIELD', position, `the ${what} has more than ${limit} numbers`)
    numbers.push(json.wholeNumber(`number in the ${what}`))
  } while (json.more(']', `or "," in the ${what}`))
  // A grown array keeps room for sixteen items; a copy is exact.
  return numbers.slice()
}

function lengthOf(
  json: SafetensorsJson,
  name: string,
  shape: readonly number[],
  shapePosition: number,
  bits: number,
): number {
  const lengthBits = elementsOf(shape) * bits
  if (lengthBits > Number.MAX_SAFE_INTEGER) {
    const headline = `tensor ${quote(name)} has the shape [${shape.join(', ')}], more than 2^53 - 1 bits`
    throw json.error('SHAPE', shapePosition, headline)
  }
  if (lengthBits % 8 !== 0) {
    const headline = `tensor ${quote(name)} has ${lengthBits} bits, not a whole number of bytes`
    throw json.error('SHAPE', shapePosition, headline)
  }
  return lengthBits / 8
}
