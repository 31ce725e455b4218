import { GpuNvmeError } from '../error.js'

const PLAIN = 'use `xxd -p` for plain digits, or `hexdump -v -C`'

/** First line of nvme-cli's dumps: the column numbers. */
const NVME_TITLE = /^ +0 +1 +2 +3 +4 +5 +6 +7 +8 +9 +a +b +c +d +e +f *$/
/** First line of gpunvme nvme read's dumps: the drive. */
const DRIVE_TITLE = /^(?:DRIVE|SIMULATED) {2}/
/** xxd, nvme-cli and lspci: bytes or pairs of bytes, then the same as text. */
const WITH_COLON = /^ *([0-9a-f]{2,}): ((?:[0-9a-f]{2}){1,2}(?: (?:[0-9a-f]{2}){1,2})*)( {2}.*| +".*| *)$/i
/** hexdump -C and od -t x1, with or without the text of -t x1z: single bytes. */
const WITHOUT_COLON = /^ *([0-9a-f]{6,}) {1,2}([0-9a-f]{2}(?: {1,2}[0-9a-f]{2})*)( +\|.*\|| +>.*<| *)$/i
/** Last line of hexdump and od: the final offset. */
const END = /^ *([0-9a-f]{6,})()() *$/i

/**
 * Parses a dump printed by xxd, hexdump -C, od -A x -t x1, nvme-cli or gpunvme nvme read; undefined for other text. A dump
 * may start at any offset.
 * @param name source of the text, for errors.
 * @throws HexDumpError for a dump that is ambiguous: missing or omitted lines, words with swapped bytes, text that does
 * not match its bytes.
 */
export function parseHexDump(text: string, name = 'the dump'): Uint8Array | undefined {
  const all = text.split(/\r?\n/)
  // nvme-cli prints at most one line before its columns.
  const title = DRIVE_TITLE.test(all[0] ?? '') ? 0 : all.slice(0, 2).findIndex((line) => NVME_TITLE.test(line))
  const lines = all.map((line, i) => ({ line, number: i + 1 })).slice(title + 1)
  const [first, ...others] = lines.filter(({ line }) => line.trim() !== '')
  if (first === undefined) return undefined
  if (isOfWords([first, ...others].map(({ line }) => line)))
    throw new HexDumpError(`${name} is a dump of words, whose bytes may be swapped`, { next: PLAIN })
  // A single line of this kind without text may be plain digits in groups.
  const bare = WITHOUT_COLON.exec(first.line)
  if (!WITH_COLON.test(first.line) && (bare === null || (bare[3]?.trim() === '' && others.length === 0)))
    return undefined

  const bytes: number[] = []
  let start: number | undefined
  for (const { line, number } of [first, ...others]) {
    const where = `${name}, line ${number}`
    if (line.trim() === '*')
      throw new HexDumpError(`${where}: repeated lines are omitted`, {
        next: 'use -v, as in `hexdump -v -C`, or use `xxd -p`',
      })
    const found = WITH_COLON.exec(line) ?? WITHOUT_COLON.exec(line) ?? END.exec(line)
    if (found === null) throw new HexDumpError(`${where}: expected an offset and bytes in hexadecimal`, { next: PLAIN })
    const [, offset = '', digits = '', shown = ''] = found
    start ??= Number.parseInt(offset, 16)
    const expected = start + bytes.length
    if (Number.parseInt(offset, 16) !== expected)
      throw new HexDumpError(`${where}: expected offset ${expected.toString(16)} in hexadecimal, got ${offset}`, {
        facts: [
          `${bytes.length} ${bytes.length === 1 ? 'byte' : 'bytes'} before it, from offset ${start.toString(16)}`,
        ],
        next: PLAIN,
      })
    const those = Array.from(digits.matchAll(/[0-9a-f]{2}/gi), ([pair]) => Number.parseInt(pair, 16))
    if (!isTextOf(shown.trim(), those))
      throw new HexDumpError(`${where}: the text does not match the bytes, which may be swapped`, { next: PLAIN })
    for (const each of those) bytes.push(each)
  }
  return Uint8Array.from(bytes)
}

/**
 * Returns whether lines begin with increasing numbers longer than the groups that follow: hexdump and od without
 * options.
 */
function isOfWords([first = '', ...others]: readonly string[]): boolean {
  const [, offset = '', word = ''] = /^ *([0-9a-f]{6,}) +([0-9a-f]{3,})(?: +[0-9a-f]{3,})* *$/i.exec(first) ?? []
  if (offset.length === word.length || others.length === 0) return false
  let last = offset
  for (const line of others.filter((other) => other.trim() !== '*')) {
    const [, next = ''] = /^ *([0-9a-f]+)(?: |$)/i.exec(line) ?? []
    // Equal lengths, so that they compare as text in any base.
    if (next.length !== last.length || next <= last) return false
    last = next
  }
  return true
}

/** Returns whether a dump's text column, if any, matches the bytes. */
function isTextOf(shown: string, bytes: readonly number[]): boolean {
  const text = bytes.map((byte) => (byte >= 0x20 && byte <= 0x7e ? String.fromCharCode(byte) : '.')).join('')
  return (
    shown === '' ||
    // Copying and padding lose blanks at either end.
    [text, `|${text}|`, `>${text}<`].some((form) => form.trim() === shown) ||
    // nvme-cli prints a blank as a dot, and extra text after a short last line.
    shown.startsWith(`"${text.replaceAll(' ', '.')}`)
  )
}

/** Error of text that is neither a hex dump nor hexadecimal digits, or of an ambiguous dump. */
export class HexDumpError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_HEX_DUMP'
  readonly category = 'usage'
}
