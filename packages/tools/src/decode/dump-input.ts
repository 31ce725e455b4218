import { createReadStream } from 'node:fs'
import { collectBytes } from '../command-line/bounded-input.js'
import type { InputStream } from '../terminal/io.js'
import { attempting } from '../command-line/file-error.js'
import { parseHexDump } from './hex-dump.js'
import { printable } from '../terminal/printable.js'
import { plural } from '../terminal/units.js'
import { UsageError } from '../command-line/usage-error.js'

/** Maximum length: the largest known structure has a few pages. */
const MAX_BYTES = 4 * 1024 * 1024

/** Characters that occur in binary structures but not in text: control characters except tabs and line ends. */
const CONTROL = /[^\P{Cc}\t\n\r]/u

const PLAIN = 'use plain digits as printed by `xxd -p`, or the binary file with --file'

/** Source of the bytes to decode. */
export interface DumpInput {
  /** Hexadecimal digits as typed, in any grouping; '-' alone means stdin. */
  readonly words: readonly string[]
  /** '-' means stdin. */
  readonly file?: string
  readonly stdin: InputStream
}

/** Input, and its name for errors. */
interface Given {
  readonly name: string
  readonly bytes: Uint8Array
  readonly typed: boolean
}

/**
 * Reads bytes to decode from the arguments, a file or stdin. A file and stdin may be binary; text must be hexadecimal
 * digits or a hex dump.
 * @throws UsageError without input, for too long input, or for text that is not a dump.
 */
export async function readDump(input: DumpInput): Promise<DataView> {
  const { name, bytes, typed } = await take(input)
  const text = typed ? Buffer.from(bytes).toString() : textOf(bytes)
  const decoded = text === undefined ? bytes : (parseHexDump(text, name) ?? fromHex(text, name))
  if (decoded.length === 0) throw nothing()
  return new DataView(decoded.buffer, decoded.byteOffset, decoded.byteLength)
}

/** Returns the bytes as text if they are text: UTF-8, or UTF-16 as some shells write; otherwise undefined. */
function textOf(bytes: Uint8Array): string | undefined {
  const isWide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  const encodings = isWide ? ['utf-8', bytes[0] === 0xff ? 'utf-16le' : 'utf-16be'] : ['utf-8']
  for (const encoding of encodings) {
    try {
      // Also removes the byte order mark.
      const text = new TextDecoder(encoding, { fatal: true }).decode(bytes)
      if (!CONTROL.test(text)) return text
    } catch (error) {
      // Invalid in this encoding: another encoding, or binary.
      if (!(error instanceof TypeError)) throw error
    }
  }
  return undefined
}

/** Returns trimmed text; '' without input. @throws the errors of `readDump`. */
export async function readWord(input: DumpInput): Promise<string> {
  if (input.stdin.isTTY === true && input.words.length === 0 && input.file === undefined) return ''
  const { bytes } = await take(input)
  return Buffer.from(bytes).toString().trim()
}

async function take({ words, file, stdin }: DumpInput): Promise<Given> {
  if (file !== undefined && words.length > 0) throw new UsageError('Bytes and --file are mutually exclusive')
  const typed = words.filter((word) => word !== '-')
  if (typed.length > 0) {
    if (typed.length < words.length) throw new UsageError("Bytes and '-' for stdin are mutually exclusive")
    return { name: 'the arguments', bytes: Buffer.from(typed.join(' ')), typed: true }
  }
  if (file !== undefined && file !== '-') {
    const bytes = await attempting(`read ${file}`, () => collect(createReadStream(file), file))
    return { name: file, bytes, typed: false }
  }
  if (stdin.isTTY === true && file === undefined && words.length === 0) throw nothing()
  return { name: 'stdin', bytes: await collect(stdin, 'stdin'), typed: false }
}

function nothing(): UsageError {
  return new UsageError('No bytes to decode', {
    next: 'pass bytes in hexadecimal, use --file FILE, or pipe them into stdin',
  })
}

async function collect(stream: AsyncIterable<Buffer>, name: string): Promise<Uint8Array> {
  const bytes = await collectBytes(stream, name, MAX_BYTES, 'decode a single structure; dd can extract it')
  if (bytes.length === 0) throw new UsageError(`${name} is empty`)
  return bytes
}

/**
 * Parses digits in groups of even length; after 0x, a single digit is also a byte. A colon joins digits; a group that
 * ends with a colon is an offset or a name, and ignored.
 */
function fromHex(text: string, name: string): Uint8Array {
  const pairs = text.split(/[\s,]+|:(?=\S)/).map((item) => {
    const [, prefix, digits] = /^(0x)?([0-9a-f_]*)$/i.exec(item) ?? []
    if (digits === undefined) {
      throw new UsageError(`Expected hexadecimal digits in ${name}, got '${printable(item)}'`, {
        next: PLAIN,
      })
    }
    const bare = digits.replaceAll('_', '')
    if (prefix !== undefined && bare.length === 1) return `0${bare}`
    if (bare.length % 2 !== 0 || (prefix !== undefined && bare === '')) {
      throw new UsageError(
        `Expected pairs of hexadecimal digits in ${name}, got ${plural(bare.length, 'digit')} in '${printable(item)}'`,
        { next: PLAIN },
      )
    }
    return bare
  })
  return Buffer.from(pairs.join(''), 'hex')
}
