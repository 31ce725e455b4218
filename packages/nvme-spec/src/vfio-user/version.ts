import { shown } from '../layout/spec-ref.js'
import { VfioUserVersion } from './message.js'

/** What one side of a connection can do, as VERSION says it (vfio-user 0.9.2 VFIO_USER_VERSION). */
export interface VfioUserCapabilities {
  /** max_msg_fds: how many descriptors it takes with one message. */
  readonly maxMsgFds: number
  /** max_data_xfer_size: how many bytes it moves with one message at most. */
  readonly maxDataXferSize: number
  /** max_dma_maps: how many windows of memory it knows at a time. */
  readonly maxDmaMaps: number
  /** pgsizes: the page sizes of those windows, or'ed together. */
  readonly pgsizes: number
  /** write_multiple: whether it takes REGION_WRITE_MULTI; it does not where that is not given. */
  readonly writeMultiple?: boolean
}

/** VERSION, asked for and answered. */
export interface VfioUserVersionMessage {
  readonly major: number
  readonly minor: number
  readonly capabilities: VfioUserCapabilities
}

/** What a side can do that does not say (vfio-user 0.9.2 VFIO_USER_VERSION). */
export const VFIO_USER_CAPABILITIES: VfioUserCapabilities = Object.freeze({
  maxMsgFds: 1,
  maxDataXferSize: 1_048_576,
  maxDmaMaps: 65_535,
  pgsizes: 4096,
})

/** The longest data of VERSION that are read: texts that are sent have some hundred bytes. */
export const VFIO_USER_VERSION_BYTES = 4096

const NAMES = {
  maxMsgFds: 'max_msg_fds',
  maxDataXferSize: 'max_data_xfer_size',
  maxDmaMaps: 'max_dma_maps',
  pgsizes: 'pgsizes',
} as const

const WRITE_MULTIPLE = 'write_multiple'

type Key = keyof typeof NAMES
const KEYS = Object.keys(NAMES) as Key[]

/** The data of VERSION, without the header. @throws TypeError, RangeError for a number that it cannot carry. */
export function encodeVersion({ major, minor, capabilities }: VfioUserVersionMessage): Uint8Array<ArrayBuffer> {
  const named: [string, unknown][] = KEYS.map((key) => [NAMES[key], checked(NAMES[key], capabilities[key])])
  if (capabilities.writeMultiple === true) named.push([WRITE_MULTIPLE, true])
  const text = `${JSON.stringify({ capabilities: Object.fromEntries(named) })}\0`
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0))
  const data = new DataView(new ArrayBuffer(VfioUserVersion.bytes + bytes.length))
  VfioUserVersion.encode(data, 0, { MAJOR: major, MINOR: minor })
  const whole = new Uint8Array(data.buffer)
  whole.set(bytes, VfioUserVersion.bytes)
  return whole
}

/**
 * What the data of VERSION say. A capability that is not named, or no text at all, is the default; names that are not
 * known here are somebody else's.
 * @throws RangeError for data that are too long or too short, end without a NUL, are no JSON, or name a capability with
 *   what is no number that it can be.
 */
export function decodeVersion(data: Uint8Array): VfioUserVersionMessage {
  if (data.length > VFIO_USER_VERSION_BYTES)
    throw new RangeError(`VERSION: expected at most ${VFIO_USER_VERSION_BYTES} bytes, got ${data.length}`)
  const { MAJOR, MINOR } = VfioUserVersion.view(new DataView(data.buffer, data.byteOffset, data.length))
  const said = capabilitiesOf(data.subarray(VfioUserVersion.bytes))
  const capabilities = Object.fromEntries(
    KEYS.map((key) => {
      const value = Object.hasOwn(said, NAMES[key]) ? said[NAMES[key]] : VFIO_USER_CAPABILITIES[key]
      return [key, checked(NAMES[key], value)]
    }),
  )
  const writeMultiple = Object.hasOwn(said, WRITE_MULTIPLE) && said[WRITE_MULTIPLE] === true
  const counts = capabilities as Record<Key, number>
  return { major: MAJOR, minor: MINOR, capabilities: { ...counts, ...(writeMultiple && { writeMultiple }) } }
}

/** Every capability is a count or a set of sizes; 0 of anything would leave nothing to talk about. */
function checked(name: string, value: unknown): number {
  // Of what may not carry descriptors at all, none is asked.
  const least = name === NAMES.maxMsgFds ? 0 : 1
  if (Number.isSafeInteger(value) && (value as number) >= least) return value as number
  throw new RangeError(`VERSION: expected ${name} to be an integer from ${least} on, got ${shown(value)}`)
}

function capabilitiesOf(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  if (bytes.length === 0) return {}
  if (bytes[bytes.length - 1] !== 0)
    throw new RangeError('VERSION: expected a text that ends with a NUL, got one that does not')
  let text = ''
  // Of UTF-8 only ASCII has a meaning here: the rest stands in names and texts that nobody reads.
  for (const byte of bytes.subarray(0, bytes.indexOf(0))) text += String.fromCharCode(byte)
  if (text === '') return {}
  const { capabilities } = objectOf('a JSON object', parsed(text))
  return capabilities === undefined ? {} : objectOf('capabilities to be an object', capabilities)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw new RangeError(`VERSION: expected JSON, got ${JSON.stringify(text.slice(0, 80))}`, { cause })
  }
}

function objectOf(expected: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new RangeError(`VERSION: expected ${expected}, got ${shown(value)}`)
}
