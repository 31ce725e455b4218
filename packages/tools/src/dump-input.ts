import { createReadStream } from 'node:fs'
import { attempting } from './file-error.js'
import { plural } from './units.js'
import { UsageError } from './usage-error.js'

/** The largest thing that has a declared structure is a few pages; what is larger was not meant. */
const MAX_BYTES = 4 * 1024 * 1024

/** Where bytes to be decoded come from. */
export interface DumpInput {
  /** Hexadecimal digits as typed, in any grouping; '-' alone means stdin. */
  readonly words: readonly string[]
  readonly file?: string
}

/**
 * Reads what is to be decoded, from the arguments, a file or stdin. A file and stdin may hold the bytes themselves, or
 * hexadecimal digits as text.
 * @throws UsageError where nothing was given, too much was, or the digits make no bytes.
 */
export async function readDump({ words, file }: DumpInput): Promise<DataView> {
  const typed = words.filter((word) => word !== '-')
  if (file !== undefined && words.length > 0) throw new UsageError('Give the bytes or --file, not both')
  if (typed.length > 0) {
    if (typed.length < words.length) throw new UsageError("Give the bytes or '-' for stdin, not both")
    return viewOf(fromHex(typed.join(' '), 'the arguments'))
  }
  if (file !== undefined) {
    const bytes = await attempting(`read ${file}`, () => collect(createReadStream(file), file))
    return viewOf(asBytes(bytes, file))
  }
  if (process.stdin.isTTY && words.length === 0) {
    throw new UsageError('Nothing to decode', { next: 'bytes in hexadecimal, --file FILE, or a pipe into stdin' })
  }
  return viewOf(asBytes(await collect(process.stdin, 'stdin'), 'stdin'))
}

async function collect(stream: AsyncIterable<Buffer>, name: string): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  let lengthBytes = 0
  for await (const chunk of stream) {
    chunks.push(chunk)
    lengthBytes += chunk.length
    if (lengthBytes > MAX_BYTES)
      throw new UsageError(`${name} holds more than 4 MiB`, { next: 'a dump of one structure; dd cuts one out' })
  }
  if (lengthBytes === 0) throw new UsageError(`${name} is empty`)
  return Buffer.concat(chunks)
}

/** Text that can only be hexadecimal digits is taken as such; no structure of the spec looks like that. */
function asBytes(bytes: Uint8Array, name: string): Uint8Array {
  const text = Buffer.from(bytes).toString('latin1')
  return /^(?:0x|[0-9a-f]|[\s,:_])+$/i.test(text) ? fromHex(text, name) : bytes
}

function fromHex(text: string, name: string): Uint8Array {
  const digits = text.replace(/0x|[\s,:_]/gi, '')
  const [stranger] = /[^0-9a-f]/i.exec(digits) ?? []
  if (stranger !== undefined) {
    throw new UsageError(`Expected hexadecimal digits in ${name}, got '${stranger}'`, {
      next: 'plain digits, as `xxd -p` prints them, or the bytes themselves with --file',
    })
  }
  if (digits.length % 2 !== 0) {
    throw new UsageError(`Expected pairs of hexadecimal digits in ${name}, got ${plural(digits.length, 'digit')}`)
  }
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
