import { visible } from '../trace/format.js'
import { HexDumpError, parseHexDump } from './parse.js'

const PLAIN = 'use plain digits as printed by `xxd -p`, or a binary file'
const MAX_SHOWN = 80

// A global of browsers and Node (https://encoding.spec.whatwg.org). This package uses only the types of the language.
declare const TextDecoder: new (label: string, options: { fatal: boolean }) => { decode(data: Uint8Array): string }

/** Characters that occur in binary structures but not in text: control characters except tabs and line ends. */
const CONTROL = /[^\P{Cc}\t\n\r]/u

/**
 * Returns the bytes of a dump of any kind: binary data are returned unchanged; text is a hex dump or hexadecimal
 * digits, in UTF-8 or in UTF-16 as some shells write it.
 * @param name source of the dump, for errors.
 * @throws HexDumpError for text that is neither, and for an ambiguous dump.
 */
export function readDumpBytes(dump: Uint8Array, name = 'the dump'): Uint8Array {
  const text = textOf(dump)
  if (text !== undefined) return readDumpText(text, name)
  refuseDamagedDump(dump, name)
  return dump
}

/**
 * A dump with colours, or with a few bytes that are not text, is not binary data: its digits would be decoded as data.
 */
function refuseDamagedDump(dump: Uint8Array, name: string): void {
  const start = Array.from(dump.subarray(0, 200), (byte) => String.fromCharCode(byte)).join('')
  // oxlint-disable-next-line no-control-regex -- the escape sequences of colours
  if (!/^[0-9a-f]{4,16}:?( +[0-9a-f]{2,4}){4}/i.test(start.replace(/\x1b\[[\d;]*m/g, '').trimStart())) return
  throw new HexDumpError(`Expected plain text in ${name}, got a hex dump with colours or bytes that are not UTF-8`, {
    next: 'print the dump without colours: xxd -R never',
  })
}

/**
 * Returns the bytes in a text: a hex dump (`parseHexDump`) or hexadecimal digits (`parseHexDigits`).
 * @param name source of the text, for errors.
 * @throws HexDumpError for other text, including an empty one, and for an ambiguous dump.
 */
export function readDumpText(text: string, name = 'the dump'): Uint8Array {
  const bytes = parseHexDump(text, name) ?? parseHexDigits(text, name)
  if (bytes.length === 0) throw new HexDumpError(`Expected hexadecimal digits in ${name}, got none`)
  return bytes
}

/**
 * Parses digits in groups of even length; after 0x, a single digit is also a byte. Blanks, commas
 * and colons separate groups; underscores are ignored.
 * @param name source of the text, for errors.
 * @throws HexDumpError for anything else.
 */
export function parseHexDigits(text: string, name = 'the text'): Uint8Array {
  const bytes: number[] = []
  for (const item of text.split(/[\s,]+|:(?=\S)/)) {
    const [, prefix, digits] = /^(0x)?([0-9a-f_]*)$/i.exec(item) ?? []
    if (digits === undefined)
      throw new HexDumpError(`Expected hexadecimal digits in ${name}, got '${shownText(item)}'`, { next: PLAIN })
    const bare = digits.replaceAll('_', '')
    const isByte = prefix !== undefined && bare.length === 1
    if ((bare.length % 2 !== 0 && !isByte) || (prefix !== undefined && bare === '')) {
      const many = `${bare.length} ${bare.length === 1 ? 'digit' : 'digits'}`
      throw new HexDumpError(`Expected pairs of hexadecimal digits in ${name}, got ${many} in '${shownText(item)}'`, {
        next: PLAIN,
      })
    }
    for (const [pair] of bare.matchAll(/..?/g)) bytes.push(Number.parseInt(pair, 16))
  }
  return Uint8Array.from(bytes)
}

/** Returns the bytes as text if they are text: UTF-8, or UTF-16 with a byte order mark; otherwise undefined. */
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

function shownText(text: string): string {
  return visible(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text)
}
