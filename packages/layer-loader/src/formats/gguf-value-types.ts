/** A metadata type of fixed size: its encoding and name. */
export interface GgufScalar {
  readonly id: number
  readonly name: GgufScalarName
  readonly sizeBytes: number
  /** Returns the value at an index; undefined for bits that are invalid for this type. */
  readonly get: (view: DataView, at: number) => number | boolean | bigint | undefined
  readonly set: (view: DataView, at: number, value: number | boolean | bigint) => void
}

/** Names of the scalar types of GGUF metadata. */
export type GgufScalarName =
  | 'uint8'
  | 'int8'
  | 'uint16'
  | 'int16'
  | 'uint32'
  | 'int32'
  | 'float32'
  | 'bool'
  | 'uint64'
  | 'int64'
  | 'float64'

/** Ids of the two metadata types of variable size. */
export const STRING_ID = 8
export const ARRAY_ID = 9

/** Metadata types of fixed size, in the order of ids. GGUF is little-endian. */
const GGUF_SCALARS: readonly GgufScalar[] = [
  scalar(
    0,
    'uint8',
    1,
    (v, at) => v.getUint8(at),
    (v, at, x) => v.setUint8(at, Number(x)),
  ),
  scalar(
    1,
    'int8',
    1,
    (v, at) => v.getInt8(at),
    (v, at, x) => v.setInt8(at, Number(x)),
  ),
  scalar(
    2,
    'uint16',
    2,
    (v, at) => v.getUint16(at, true),
    (v, at, x) => v.setUint16(at, Number(x), true),
  ),
  scalar(
    3,
    'int16',
    2,
    (v, at) => v.getInt16(at, true),
    (v, at, x) => v.setInt16(at, Number(x), true),
  ),
  scalar(
    4,
    'uint32',
    4,
    (v, at) => v.getUint32(at, true),
    (v, at, x) => v.setUint32(at, Number(x), true),
  ),
  scalar(
    5,
    'int32',
    4,
    (v, at) => v.getInt32(at, true),
    (v, at, x) => v.setInt32(at, Number(x), true),
  ),
  scalar(
    6,
    'float32',
    4,
    (v, at) => v.getFloat32(at, true),
    (v, at, x) => v.setFloat32(at, Number(x), true),
  ),
  scalar(
    7,
    'bool',
    1,
    (v, at) => toBool(v.getUint8(at)),
    (v, at, x) => v.setUint8(at, Number(x)),
  ),
  scalar(
    10,
    'uint64',
    8,
    (v, at) => exact(v.getBigUint64(at, true)),
    (v, at, x) => v.setBigUint64(at, BigInt(x), true),
  ),
  scalar(
    11,
    'int64',
    8,
    (v, at) => exact(v.getBigInt64(at, true)),
    (v, at, x) => v.setBigInt64(at, BigInt(x), true),
  ),
  scalar(
    12,
    'float64',
    8,
    (v, at) => v.getFloat64(at, true),
    (v, at, x) => v.setFloat64(at, Number(x), true),
  ),
]

const byId = new Map(GGUF_SCALARS.map((entry) => [entry.id, entry]))
const byName = new Map(GGUF_SCALARS.map((entry) => [entry.name, entry]))

/** Returns the scalar type with this id; undefined for strings, arrays and unknown ids. */
export function scalarById(id: number): GgufScalar | undefined {
  return byId.get(id)
}

/** Returns the scalar type with this name. */
export function scalarByName(name: GgufScalarName): GgufScalar {
  return byName.get(name)!
}

function scalar(
  id: number,
  name: GgufScalarName,
  sizeBytes: number,
  get: GgufScalar['get'],
  set: GgufScalar['set'],
): GgufScalar {
  return { id, name, sizeBytes, get, set }
}

function toBool(byte: number): boolean | undefined {
  return byte > 1 ? undefined : byte === 1
}

/** Returns a number if it is exact, so that a count reads the same for each width. */
function exact(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}
