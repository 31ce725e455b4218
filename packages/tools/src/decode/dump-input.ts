import { createReadStream } from 'node:fs'
import { collectBytes } from '../command-line/bounded-input.js'
import type { InputStream } from '../terminal/io.js'
import { attempting } from '../command-line/file-error.js'
import { parseHexDump } from './hex-dump.js'
import { printable } from '../terminal/printable.js'
import { plural } from '../terminal/units.js'
import { UsageError } from '../command-line/usage-error.js'

/** The largest thing that has a declared structure is a few pages; what is larger was not meant. */
const MAX_BYTES = 4 * 1024 * 1024

/** What text has and structures of the spec are full of: control characters, but for tabs and line ends. */
const CONTROL = /[^\P{Cc}\t\n\r]/u

const PLAIN = 'plain digits, as `xxd -p` prints them, or the bytes themselves with --file'

/** Where bytes to be decoded come from. */
export interface DumpInput {
  /** Hexadecimal digits as typed, in any grouping; '-' alone means stdin. */
  readonly words: readonly string[]
  /** '-' means stdin. */
  readonly file?: string
  readonly stdin: InputStream
}

/** What was given, and how errors call where it came from. */
interface Given {
  readonly name: string
  readonly bytes: Uint8Array
  readonly typed: boolean
}

/**
 * Reads what is to be decoded, from the arguments, a file or stdin. A file and stdin may hold the bytes themselves;
 * text is taken as hexadecimal digits or as a dump of bytes, and nothing else.
 * @throws UsageError where nothing was given, too much was, or the text makes no bytes.
 */
export async function readDump(input: DumpInput): Promise<DataView> {
  const { name, bytes, typed } = await take(input)
  const text = typed ? Buffer.from(bytes).toString() : textOf(bytes)
  const decoded = text === undefined ? bytes : (parseHexDump(text, name) ?? fromHex(text, name))
  if (decoded.length === 0) throw nothing()
  return new DataView(decoded.buffer, decoded.byteOffset, decoded.byteLength)
}

/** The bytes as text, where they are text: UTF-8, or UTF-16 as some shells write it; undefined for all else. */
function textOf(bytes: Uint8Array): string | undefined {
  const isWide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  const encodings = isWide ? ['utf-8', bytes[0] === 0xff ? 'utf-16le' : 'utf-16be'] : ['utf-8']
  for (const encoding of encodings) {
    try {
      // Takes the byte order mark away as well.
      const text = new TextDecoder(encoding, { fatal: true }).decode(bytes)
      if (!CONTROL.test(text)) return text
    } catch (error) {
      // What is no text of this encoding may be of the next, or be bytes.
      if (!(error instanceof TypeError)) throw error
    }
  }
  return undefined
}

/** Reads text without the blanks around it; '' where nobody gives any. @throws UsageError as `readDump` does. */
export async function readWord(input: DumpInput): Promise<string> {
  if (input.stdin.isTTY === true && input.words.length === 0 && input.file === undefined) return ''
  const { bytes } = await take(input)
  return Buffer.from(bytes).toString().trim()
}

async function take({ words, file, stdin }: DumpInput): Promise<Given> {
  if (file !== undefined && words.length > 0) throw new UsageError('Give the bytes or --file, not both')
  const typed = words.filter((word) => word !== '-')
  if (typed.length > 0) {
    if (typed.length < words.length) throw new UsageError("Give the bytes or '-' for stdin, not both")
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
  return new UsageError('Nothing to decode', { next: 'bytes in hexadecimal, --file FILE, or a pipe into stdin' })
}

async function collect(stream: AsyncIterable<Buffer>, name: string): Promise<Uint8Array> {
  const bytes = await collectBytes(stream, name, MAX_BYTES, 'a dump of one structure; dd can extract it')
  if (bytes.length === 0) throw new UsageError(`${name} is empty`)
  return bytes
}

/**
 * Digits in groups of any length, which is even; with 0x in front, a single digit is a byte as well. A colon joins
 * digits; where it ends them, they are an offset or a name and no bytes.
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
