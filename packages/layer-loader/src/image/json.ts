import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { quote } from '../formats/quote.js'
import type { Remedy } from './remedy.js'

/** A manifest nests six deep; later versions may add deeper members. */
const MAX_DEPTH = 16

/** Values of a million tensors. Each takes some tens of bytes of heap, so this bounds the memory of parsing. */
const MAX_VALUES = 16_000_000

/**
 * Parses the untrusted JSON of a directory or a manifest: nesting and number of values are counted before anything is
 * built.
 * @param region for messages: 'directory', 'manifest of "name"'.
 * @throws ImageContentError
 */
export function parseImageJson(region: string, encoded: Uint8Array): ImageValue {
  const { depth, values } = measure(encoded)
  const problem = (expected: string, got: string) => new ImageContentError(region, '', expected, got)
  if (depth > MAX_DEPTH) throw problem(`nesting of at most ${MAX_DEPTH}`, String(depth))
  if (values > MAX_VALUES) throw problem(`at most ${MAX_VALUES} values`, String(values))
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(encoded)
    return new ImageValue(region, '', JSON.parse(text))
  } catch (error) {
    throw problem('JSON in UTF-8', (error as Error).message)
  }
}

/** Lower bounds of the nesting of JSON and of the number of its values, from its bytes alone. */
function measure(encoded: Uint8Array): { depth: number; values: number } {
  let depth = 0
  let open = 0
  let values = 1
  let inString = false
  for (let at = 0; at < encoded.length; at++) {
    const byte = encoded[at]
    if (inString) {
      if (byte === 0x5c /* \ */) at++
      else if (byte === 0x22 /* " */) inString = false
    } else if (byte === 0x22) inString = true
    else if (byte === 0x2c /* , */) values++
    else if (byte === 0x5b /* [ */ || byte === 0x7b /* { */) {
      values++
      depth = Math.max(depth, ++open)
    } else if (byte === 0x5d /* ] */ || byte === 0x7d /* } */) open--
  }
  return { depth, values }
}

/** A value in the JSON of an image, and its path. Each method validates the value. */
export class ImageValue {
  readonly region: string
  /** `layers[3].tensors[0].shape`; empty for the root. */
  readonly path: string
  private readonly value: unknown

  constructor(region: string, path: string, value: unknown) {
    this.region = region
    this.path = path
    this.value = value
  }

  error(expected: string, got: string = show(this.value)): ImageContentError {
    return new ImageContentError(this.region, this.path, expected, got)
  }

  get isNull(): boolean {
    return this.value === null
  }

  /** Returns whether an object has an optional member. */
  has(name: string): boolean {
    const { value } = this
    return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
  }

  /** Returns a member of an object. Unknown members are left to later versions. */
  member(name: string): ImageValue {
    const { value } = this
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw this.error('an object')
    const path = this.path === '' ? name : `${this.path}.${name}`
    if (!Object.hasOwn(value, name)) throw new ImageContentError(this.region, path, 'a value', 'nothing')
    return new ImageValue(this.region, path, (value as Record<string, unknown>)[name])
  }

  items(maxItems: number): ImageValue[] {
    if (!Array.isArray(this.value)) throw this.error('an array')
    if (this.value.length > maxItems) throw this.error(`at most ${maxItems} items`, `${this.value.length} items`)
    return this.value.map((item: unknown, index) => new ImageValue(this.region, `${this.path}[${index}]`, item))
  }

  /** Returns an integer from `least` to `most`. */
  integer(min: number, max: number = Number.MAX_SAFE_INTEGER): number {
    const { value } = this
    if (!Number.isSafeInteger(value) || (value as number) < min || (value as number) > max) {
      throw this.error(`an integer from ${min} to ${max}`)
    }
    return value as number
  }

  /** Returns a non-empty string without lone surrogates, at most `maxBytes` in UTF-8. */
  text(maxBytes: number): string {
    const { value } = this
    if (typeof value !== 'string' || value === '') throw this.error('a non-empty string')
    const lengthBytes = Buffer.byteLength(value)
    if (lengthBytes > maxBytes) throw this.error(`at most ${maxBytes} bytes`, `${lengthBytes} bytes`)
    // UTF-8 has no lone surrogates, but JSON's \u escapes can create them.
    if (/\p{Cs}/u.test(value)) throw this.error('text without lone surrogates')
    return value
  }

  /** Returns lower-case hexadecimal digits: exactly `digits`, or at least one. */
  hex(digits?: number): string {
    const { value } = this
    if (typeof value !== 'string' || value.length !== (digits ?? value.length) || !/^[0-9a-f]+$/.test(value)) {
      throw this.error(`${digits === undefined ? '' : `${digits} `}hexadecimal digits in lower case`)
    }
    return value
  }
}

function show(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  return String(value)
}

/** Error of a directory or manifest with a correct checksum but invalid content. */
export class ImageContentError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_IMAGE_CONTENT'
  readonly category = 'verification'
  readonly remedy: Remedy = 'replace-image'
  readonly region: string
  /** Path in the JSON; empty for the root. */
  readonly path: string
  readonly expected: string
  readonly got: string

  constructor(region: string, path: string, expected: string, got: string) {
    super(`The image's ${region} is malformed${path === '' ? '' : `: ${path}`}`, {
      facts: [`expected ${expected}`, `got ${got}`],
      next: "pack the models again, the first with { replace: 'image' }, which discards the image, with a writer that follows image format 1",
    })
    this.region = region
    this.path = path
    this.expected = expected
    this.got = got
  }
}
