import { countBytes } from './count-bytes.js'
import type { Tensor } from './model.js'
import { ggmlTypeById, ggmlTypeName } from './ggml-types.js'
import type { GgufReader } from './gguf-reader.js'
import { quote } from './quote.js'
import { elementsOf } from './shape.js'
import { decodeStrictUtf8 } from './strict-utf8.js'

/** Length of the shortest entry: a name's length, one byte of name, no dimensions, a type, an offset. */
export const MIN_TENSOR_INFO_BYTES = 8 + 1 + 4 + 4 + 8

/** ggml stores a name in 64 bytes including the terminator. */
const MAX_NAME_BYTES = 63
const MAX_DIMENSIONS = 4

/** An entry of the tensor table, before the start of the data section is known. */
export interface TensorInfo {
  readonly name: string
  readonly typeId: number
  /** Outermost dimension first. */
  readonly shape: readonly number[]
  /** Offset from the start of the data section. */
  readonly offsetBytes: number
  /** Undefined for an unknown or retired type. */
  readonly lengthBytes: number | undefined
  /** Position of the offset in the table, for messages. */
  readonly offsetPosition: number
}

/** Reads `count` entries. The caller has checked `count` against the limits and the size of the source. */
export async function readTensorInfos(reader: GgufReader, count: number, alignment: number): Promise<TensorInfo[]> {
  const infos: TensorInfo[] = []
  const names = new Set<string>()
  for (let index = 0; index < count; index++) {
    const namePosition = reader.positionBytes
    const name = await readName(reader, index)
    if (names.has(name)) {
      throw reader.error('DUPLICATE_TENSOR', namePosition, `two tensors are named ${quote(name)}`)
    }
    names.add(name)
    if (!reader.isAhead) await reader.ahead()
    infos.push(readInfo(reader, name, alignment))
  }
  return infos
}

async function readName(reader: GgufReader, index: number): Promise<string> {
  if (!reader.isAhead) await reader.ahead()
  const position = reader.positionBytes
  const lengthBytes = reader.u64(`name length of tensor ${index}`)
  if (lengthBytes === 0 || lengthBytes > MAX_NAME_BYTES) {
    const headline = `the name of tensor ${index} has ${lengthBytes} bytes; expected 1 to ${MAX_NAME_BYTES}`
    throw reader.error('NAME', position, headline)
  }
  const name = decodeStrictUtf8(await reader.bytes(lengthBytes, `name of tensor ${index}`))
  // C readers end a name at its first NUL: two different names could be equal for them.
  if (name === undefined || name.includes('\0')) {
    throw reader.error('NAME', position, `the name of tensor ${index} is not UTF-8 without NUL`)
  }
  return name
}

function readInfo(reader: GgufReader, name: string, alignment: number): TensorInfo {
  const quoted = quote(name)
  const dimensionsPosition = reader.positionBytes
  const dimensions = reader.u32(`dimension count of ${quoted}`)
  if (dimensions > MAX_DIMENSIONS) {
    const headline = `tensor ${quoted} has ${dimensions} dimensions; expected at most ${MAX_DIMENSIONS}`
    throw reader.error('DIMENSIONS', dimensionsPosition, headline)
  }
  const shapePosition = reader.positionBytes
  // GGUF stores the innermost dimension, the row, first.
  const shape = Array.from({ length: dimensions }, () => reader.u64(`shape of ${quoted}`)).reverse()
  const typeId = reader.u32(`type of ${quoted}`)
  const lengthBytes = lengthOf(reader, quoted, shape, shapePosition, typeId)

  const offsetPosition = reader.positionBytes
  const offsetBytes = reader.u64(`offset of ${quoted}`)
  if (offsetBytes % alignment !== 0) {
    const headline = `tensor ${quoted} is at offset ${offsetBytes}, not a multiple of the alignment ${alignment}`
    throw reader.error('OFFSET', offsetPosition, headline)
  }
  return { name, typeId, shape, offsetBytes, lengthBytes, offsetPosition }
}

/** Returns the length of a tensor; undefined for an unknown type. */
function lengthOf(
  reader: GgufReader,
  quoted: string,
  shape: readonly number[],
  shapePosition: number,
  typeId: number,
): number | undefined {
  const elements = elementsOf(shape)
  if (elements === 0) {
    throw reader.error('SHAPE', shapePosition, `tensor ${quoted} has the shape [${shape.join(', ')}], which is empty`)
  }
  const type = ggmlTypeById(typeId)
  const rowElements = shape.at(-1) ?? 1
  if (type && rowElements % type.blockElements !== 0) {
    const headline = `tensor ${quoted} has rows of ${rowElements} elements, not a multiple of ${type.name}'s ${type.blockElements}`
    throw reader.error('BLOCK', shapePosition, headline)
  }
  const lengthBytes = type && (elements / type.blockElements) * type.blockBytes
  if ((lengthBytes ?? elements) > Number.MAX_SAFE_INTEGER) {
    const headline = `tensor ${quoted} has the shape [${shape.join(', ')}], which takes more than 2^53 - 1 bytes`
    throw reader.error('SHAPE', shapePosition, headline)
  }
  return lengthBytes
}

/** Properties of the file that determine the locations of its tensors. */
export interface DataSection {
  readonly dataStartBytes: number
  /** Index of the part, recorded in the tensors. */
  readonly part: number
  /** Whether the file ends before its data. An opaque tensor at the end then has length 0. */
  readonly isHeaderOnly: boolean
}

/** Locates each tensor in the source, in the order of the bytes. */
export function placeTensors(reader: GgufReader, infos: readonly TensorInfo[], section: DataSection): Tensor[] {
  const { dataStartBytes, part, isHeaderOnly } = section
  if (!isHeaderOnly) refuseTruncation(reader, infos, dataStartBytes)
  const endBytes = isHeaderOnly ? -Infinity : reader.source.sizeBytes
  const ordered = [...infos].sort((a, b) => a.offsetBytes - b.offsetBytes)
  return ordered.map((info, index): Tensor => {
    const next = ordered[index + 1]
    const offsetBytes = dataStartBytes + info.offsetBytes
    const roomBytes = (next ? dataStartBytes + next.offsetBytes : endBytes) - offsetBytes
    const lengthBytes = info.lengthBytes ?? Math.max(0, roomBytes)
    // A tensor of unknown type takes at least one byte, so the next one cannot share its start.
    if (next && (lengthBytes > roomBytes || roomBytes === 0)) {
      const [first, second] = [quote(info.name), quote(next.name)]
      const shared = Math.max(1, lengthBytes - roomBytes)
      throw reader.error('OVERLAP', next.offsetPosition, `tensors ${first} and ${second} share bytes`, [
        `${first} has ${lengthBytes} bytes from offset ${info.offsetBytes}`,
        `${second} begins at offset ${next.offsetBytes}, ${shared} bytes too early`,
      ])
    }
    const opaque = info.lengthBytes === undefined
    const { name, typeId, shape } = info
    return { name, dtype: ggmlTypeName(typeId), shape, part, offsetBytes, lengthBytes, opaque }
  })
}

/** Checks the tensor that ends last, so that the message counts all missing bytes. */
function refuseTruncation(reader: GgufReader, infos: readonly TensorInfo[], dataStartBytes: number): void {
  let last: TensorInfo | undefined
  let lastEnd = 0
  for (const info of infos) {
    // At least one byte if the length is unknown.
    const end = info.offsetBytes + (info.lengthBytes ?? 1)
    if (end > lastEnd) [last, lastEnd] = [info, end]
  }
  const missing = dataStartBytes + lastEnd - reader.source.sizeBytes
  if (last === undefined || missing <= 0) return
  const headline = `the file ends before tensor ${quote(last.name)} does: ${countBytes(missing)} missing`
  throw reader.error('TRUNCATED', last.offsetPosition, headline, [
    `the file has ${reader.source.sizeBytes} bytes; its tensors end at ${dataStartBytes + lastEnd}`,
  ])
}
