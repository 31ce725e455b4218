import { createReadStream } from 'node:fs'
import { readDumpBytes, readDumpText } from '@gpunvme/nvme-spec/hex-dump'
import { collectBytes } from '../command-line/bounded-input.js'
import type { InputStream } from '../terminal/io.js'
import { attempting } from '../command-line/file-error.js'
import { UsageError } from '../command-line/tools-error.js'

/** Maximum length: the largest known structure has a few pages. */
const MAX_BYTES = 4 * 1024 * 1024

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
 * @throws UsageError for missing or too long input, HexDumpError for text that is not a dump.
 */
export async function readDump(input: DumpInput): Promise<DataView> {
  const { name, bytes, typed } = await take(input)
  const text = Buffer.from(bytes).toString()
  if (/^[\s,]*$/.test(text)) throw nothing()
  const decoded = typed ? readDumpText(text, name) : readDumpBytes(bytes, name)
  return new DataView(decoded.buffer, decoded.byteOffset, decoded.byteLength)
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

function nothing(headline = 'No bytes to decode'): UsageError {
  return new UsageError(headline, { next: 'pass bytes in hexadecimal, use --file FILE, or pipe them into stdin' })
}

async function collect(stream: AsyncIterable<Buffer>, name: string): Promise<Uint8Array> {
  const bytes = await collectBytes(stream, name, MAX_BYTES, 'decode a single structure; dd can extract it')
  if (bytes.length === 0) throw nothing(`${name} is empty`)
  return bytes
}
