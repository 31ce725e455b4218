import { describeValue } from '../layout/facts.js'
import { VfioUserVersion } from './messages.js'

/** Capabilities of one side of a connection, as in VERSION (vfio-user 0.9.2 VFIO_USER_VERSION). */
export interface VfioUserCapabilities {
  /** max_msg_fds: maximum number of descriptors per message. */
  readonly maxMsgFds: number
  /** max_data_xfer_size: maximum number of data bytes per message. */
  readonly maxDataXferSize: number
  /** max_dma_maps: maximum number of DMA mappings at a time. */
  readonly maxDmaMaps: number
  /** pgsizes: bit mask of the page sizes of DMA mappings. */
  readonly pgsizes: number
  /** write_multiple: whether REGION_WRITE_MULTI is supported. Default: false. */
  readonly writeMultiple?: boolean
}

/** Request and reply of VERSION. */
export interface VfioUserVersionMessage {
  readonly major: number
  readonly minor: number
  readonly capabilities: VfioUserCapabilities
}

/** Default capabilities (vfio-user 0.9.2 VFIO_USER_VERSION). */
export const VFIO_USER_CAPABILITIES: VfioUserCapabilities = Object.freeze({
  maxMsgFds: 1,
  maxDataXferSize: 1_048_576,
  maxDmaMaps: 65_535,
  pgsizes: 4096,
})

/** Maximum length of the data of VERSION that is accepted; real ones have a few hundred bytes. */
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

/** Encodes the data of VERSION, without the header. @throws TypeError or RangeError for a number that does not fit. */
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
 * Decodes the data of VERSION. A missing capability, or a missing text, takes its default; unknown names are ignored.
 * @throws RangeError for data that are too long or too short, have no final NUL, are not JSON, or have an invalid value
 *   for a capability.
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

/** Every capability is a count or a set of sizes; 0 is invalid except for descriptors. */
function checked(name: string, value: unknown): number {
  // A side that accepts no descriptors at all is valid.
  const min = name === NAMES.maxMsgFds ? 0 : 1
  if (Number.isSafeInteger(value) && (value as number) >= min) return value as number
  throw new RangeError(`VERSION: expected ${name} to be an integer of at least ${min}, got ${describeValue(value)}`)
}

function capabilitiesOf(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  if (bytes.length === 0) return {}
  if (bytes[bytes.length - 1] !== 0) throw new RangeError('VERSION: expected text that ends with a NUL')
  let text = ''
  // Decoded as Latin-1: only ASCII has a meaning here; other characters occur only in ignored names and texts.
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
  throw new RangeError(`VERSION: expected ${expected}, got ${describeValue(value)}`)
}
