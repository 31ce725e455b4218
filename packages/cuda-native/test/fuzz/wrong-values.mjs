// Values of every kind, by name, as arguments of native functions.

/** Thrown by getters of the values below: an error that is not the addon's. */
export class OwnError extends Error {
  name = 'OwnError'
}

const { structuredClone } = globalThis
const PAGE = 4096

/** @type {readonly (new (length: number) => ArrayBufferView)[]} */
const arrays = [
  ...[Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array],
  ...[Float32Array, Float64Array, BigInt64Array, BigUint64Array],
]

// Excludes 1 to 63, which are descriptors of the runtime.
const numbers = [
  ...[-(2 ** 53), -(2 ** 31), -1, -0, 0, 0.5, 64, 65, 66, 68, 4095, PAGE, PAGE + 1, 65535, 65536, 2 ** 21, 2 ** 30],
  ...[2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 1e308, NaN, Infinity, -Infinity],
]
const bigints = [-1n, 0n, 1n, 4096n, 2n ** 47n, 2n ** 63n, 2n ** 64n - 1n, 2n ** 64n, -(2n ** 64n), 2n ** 200n]
const strings = ['', 'x', 'socket', 'a\0b', '\ud800', '☃', 'y'.repeat(107), 'z'.repeat(108), 'w'.repeat(70_000)]

/** @returns {ArrayBuffer} */
function detachedBuffer() {
  const buffer = new ArrayBuffer(64)
  structuredClone(buffer, { transfer: [buffer] })
  return buffer
}

/** @param {(buffer: any) => unknown} viewOf */
function shrunk(viewOf) {
  // The type declarations of Node.js 20 lack them.
  const buffer = /** @type {any} */ (new /** @type {any} */ (ArrayBuffer)(65_536, { maxByteLength: 131_072 }))
  const view = viewOf(buffer)
  buffer.resize(0)
  return view
}

/** @param {any} buffer */
const detach = (buffer) => structuredClone(buffer, { transfer: [buffer] })

/**
 * Functions that create a value each, by name.
 *
 * @type {ReadonlyMap<string, () => unknown>}
 */
export const wrongValues = new Map(
  /** @type {[string, () => unknown][]} */ ([
    ['undefined', () => undefined],
    ['null', () => null],
    ['true', () => true],
    ['false', () => false],
    ['symbol', () => Symbol('wrong')],
    ['function', () => () => undefined],
    ['throwing function', () => () => fail()],
    ['class', () => Map],
    ...numbers.map((value) => [`number ${Object.is(value, -0) ? '-0' : value}`, () => value]),
    ...bigints.map((value) => [`bigint ${value}`, () => value]),
    ...strings.map((value) => [`string of ${value.length}`, () => value]),
    ['boxed number', () => Object(64)],
    ['object', () => ({})],
    ['object without prototype', () => Object.create(null)],
    ['object whose properties throw', () => new Proxy({}, { get: fail, has: fail, ownKeys: fail })],
    ['object that converts', () => ({ valueOf: () => 64, toString: () => '64' })],
    ['revoked proxy', () => revoked()],
    ['array', () => []],
    ['array of undefined', () => [undefined]],
    ['array of objects', () => [{}, {}]],
    ['array as long as can be', () => new Array(2 ** 32 - 1)],
    ['array whose elements throw', () => Object.defineProperty([0], '0', { get: fail })],
    ['array that shrinks', () => shrinkingArray()],
    ['date', () => new Date(0)],
    ['promise', () => Promise.resolve(64)],
    ['map', () => new Map()],
    ['array buffer', () => new ArrayBuffer(64)],
    ['shared array buffer', () => new SharedArrayBuffer(64)],
    ['detached array buffer', detachedBuffer],
    ['data view', () => new DataView(new ArrayBuffer(64), 3)],
    ['data view of shared memory', () => new DataView(new SharedArrayBuffer(64))],
    ['empty data view', () => new DataView(new ArrayBuffer(0))],
    ['detached data view', () => detachedView((buffer) => new DataView(buffer))],
    ['shrunk data view', () => shrunk((buffer) => new DataView(buffer, 0, 65_536))],
    ['shrunk data view without length', () => shrunk((buffer) => new DataView(buffer))],
    ...arrays.flatMap((type) => [
      ...[0, 1, 8, 1024].map((length) => [`${type.name} of ${length}`, () => new type(length)]),
      [`detached ${type.name}`, () => detachedView((buffer) => new /** @type {any} */ (type)(buffer))],
    ]),
    ['shrunk Uint8Array', () => shrunk((buffer) => new Uint8Array(buffer, 0, 65_536))],
    ['shrunk Uint8Array without length', () => shrunk((buffer) => new Uint8Array(buffer))],
    ['shrunk Uint32Array behind the end', () => shrunk((buffer) => new Uint32Array(buffer, 4096, 64))],
    ['Uint8Array at an odd offset', () => new Uint8Array(new ArrayBuffer(64), 1, 33)],
    ['Uint8Array of shared memory', () => new Uint8Array(new SharedArrayBuffer(64))],
    ['buffer', () => Buffer.from('wrong')],
  ]),
)

function fail() {
  throw new OwnError('a getter of the caller')
}

function revoked() {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

function shrinkingArray() {
  const array = [undefined, {}, {}, {}]
  Object.defineProperty(array, '0', { get: () => void (array.length = 1) })
  return array
}

/** @param {(buffer: ArrayBuffer) => unknown} viewOf */
function detachedView(viewOf) {
  const buffer = new ArrayBuffer(64)
  const view = viewOf(buffer)
  detach(buffer)
  return view
}
