import { plural } from '../terminal/units.js'
import { UsageError } from '../command-line/usage-error.js'

const PLAIN = '`xxd -p`, which prints plain digits, or `hexdump -v -C`'

/** nvme-cli begins its dumps with the numbers of the columns. */
const NVME_TITLE = /^ +0 +1 +2 +3 +4 +5 +6 +7 +8 +9 +a +b +c +d +e +f *$/
/** gpunvme read begins its dumps with the drive that they are from. */
const DRIVE_TITLE = /^(?:DRIVE|SIMULATED) {2}/
/** xxd, nvme-cli and lspci: single bytes or pairs of them, then, set off, the same as text. */
const WITH_COLON = /^([0-9a-f]{2,}): ((?:[0-9a-f]{2}){1,2}(?: (?:[0-9a-f]{2}){1,2})*)( {2}.*| +".*| *)$/i
/** hexdump -C and od -t x1, with the text of -t x1z or without: single bytes. */
const WITHOUT_COLON = /^([0-9a-f]{6,}) {1,2}([0-9a-f]{2}(?: {1,2}[0-9a-f]{2})*)( +\|.*\|| +>.*<| *)$/i
/** What hexdump and od end with: how far they got. */
const END = /^([0-9a-f]{6,})()() *$/i

/**
 * The bytes of a dump that xxd, hexdump -C, od -A x -t x1, nvme-cli or gpunvme read printed; undefined for other text. A dump may
 * begin at any offset.
 * @param name what the text came from, for errors.
 * @throws UsageError for a dump that does not tell all bytes in their order: lines that are missing or left out, words
 *   whose bytes are swapped, a column of text that belongs to other bytes.
 */
export function parseHexDump(text: string, name: string): Uint8Array | undefined {
  const all = text.split(/\r?\n/)
  // Before its columns nvme-cli prints one line at most: what it has read.
  const title = DRIVE_TITLE.test(all[0] ?? '') ? 0 : all.slice(0, 2).findIndex((line) => NVME_TITLE.test(line))
  const lines = all.map((line, i) => ({ line, number: i + 1 })).slice(title + 1)
  const [first, ...others] = lines.filter(({ line }) => line.trim() !== '')
  if (first === undefined) return undefined
  if (isOfWords([first, ...others].map(({ line }) => line)))
    throw new UsageError(`${name} is a dump of words, which may have their bytes swapped`, { next: PLAIN })
  // One such line without a text may be plain digits in groups of any length.
  const bare = WITHOUT_COLON.exec(first.line)
  if (!WITH_COLON.test(first.line) && (bare === null || (bare[3]?.trim() === '' && others.length === 0)))
    return undefined

  const bytes: number[] = []
  let start: number | undefined
  for (const { line, number } of [first, ...others]) {
    const where = `${name}, line ${number}`
    if (line.trim() === '*')
      throw new UsageError(`${where}: lines that repeat were left out`, {
        next: 'the same with -v, as in `hexdump -v -C`, or `xxd -p`',
      })
    const found = WITH_COLON.exec(line) ?? WITHOUT_COLON.exec(line) ?? END.exec(line)
    if (found === null) throw new UsageError(`${where}: expected an offset and bytes in hexadecimal`, { next: PLAIN })
    const [, offset = '', digits = '', shown = ''] = found
    start ??= Number.parseInt(offset, 16)
    const expected = start + bytes.length
    if (Number.parseInt(offset, 16) !== expected)
      throw new UsageError(`${where}: expected offset ${expected.toString(16)} in hexadecimal, got ${offset}`, {
        facts: [`${plural(bytes.length, 'byte')} before it, from offset ${start.toString(16)}`],
        next: PLAIN,
      })
    const those = Array.from(digits.matchAll(/[0-9a-f]{2}/gi), ([pair]) => Number.parseInt(pair, 16))
    if (!isTextOf(shown.trim(), those))
      throw new UsageError(`${where}: the text beside the bytes is not theirs; they may be swapped`, { next: PLAIN })
    for (const each of those) bytes.push(each)
  }
  return Uint8Array.from(bytes)
}

/** Lines that begin with a rising number of another length than all that follow: hexdump and od without options. */
function isOfWords([first = '', ...others]: readonly string[]): boolean {
  const [, offset = '', word = ''] = /^([0-9a-f]{6,}) +([0-9a-f]{3,})(?: +[0-9a-f]{3,})* *$/i.exec(first) ?? []
  if (offset.length === word.length || others.length === 0) return false
  let last = offset
  for (const line of others.filter((other) => other.trim() !== '*')) {
    const [, next = ''] = /^([0-9a-f]+)(?: |$)/i.exec(line) ?? []
    // Of one length, so that they compare as text in whichever base they are.
    if (next.length !== last.length || next <= last) return false
    last = next
  }
  return true
}

/** Whether a dump's column of text, if there is one, may stand beside these bytes. */
function isTextOf(shown: string, bytes: readonly number[]): boolean {
  const text = bytes.map((byte) => (byte >= 0x20 && byte <= 0x7e ? String.fromCharCode(byte) : '.')).join('')
  return (
    shown === '' ||
    // Blanks at either end are lost where lines were copied or padded.
    [text, `|${text}|`, `>${text}<`].some((form) => form.trim() === shown) ||
    // nvme-cli shows a blank as a dot, and after a short last line more than its bytes.
    shown.startsWith(`"${text.replaceAll(' ', '.')}`)
  )
}
