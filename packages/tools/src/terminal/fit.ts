import { stripVTControlCharacters } from 'node:util'

/** Columns that continued lines have at least; with less room, a line is not broken. */
const MIN_ROOM = 24
const MIN_GAIN = 8
/** Lines that are indented further continue at the same column. */
const DEEP = 8

/**
 * Folds a line that is wider than the terminal between words, so that the terminal does not break words. Continued
 * lines are aligned with the last column of a table or list, otherwise indented. Does not split
 * commands of gpunvme and sudo, so that they can be copied, lines that begin with '$', or words longer than a line.
 */
export function fit(line: string, columns: number, program: string, indent = 2): string[] {
  if (widthOf(line) <= columns || /^ *\$ /.test(line)) return [line]
  const own = /^ */.exec(line)![0].length
  const hanging = ' '.repeat(lastColumn(line, own < DEEP ? own + indent : own, columns))
  const lines: string[] = []
  let current = ''
  for (const piece of pieces(line, program)) {
    const isTooLong = current.trim() !== '' && widthOf(`${current}${piece.trimEnd()}`) > columns
    // A word that is too long for any line stays where it is, unless a line of its own gives it more room.
    const isHelped = hanging.length + piece.trim().length <= columns || current.length - hanging.length >= MIN_GAIN
    if (isTooLong && isHelped) {
      lines.push(current.trimEnd())
      current = `${hanging}${piece.trimStart()}`
    } else current += piece
  }
  return [...lines, current.trimEnd()]
}

/** Number of characters without colours. */
function widthOf(text: string): number {
  return stripVTControlCharacters(text).length
}

/** Returns where continued lines begin: below the last column that leaves enough room. */
function lastColumn(line: string, otherwise: number, columns: number): number {
  const starts = [...line.matchAll(/(?<=\S) {2,}(?=\S)/g)].map((gap) => gap.index + gap[0].length)
  return starts.findLast((start) => start <= columns - MIN_ROOM) ?? Math.min(otherwise, columns - MIN_ROOM)
}

/** Returns words and commands, each with the blanks before it. A command ends at punctuation. */
function pieces(line: string, program: string): string[] {
  const escaped = program.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
  const command = `(?:sudo|${escaped}|gpunvme) [^;,]*?(?:[;,]|[.:](?= |$)|$)`
  return line.match(new RegExp(` *(?:${command}|[^ ]+)`, 'g')) ?? [line]
}

/** Width that texts of the help are written for. */
export const HELP_COLUMNS = 80
/** A shorter line ends its paragraph. */
const FULL_LINE = 60

/** Fits a help text to a narrow terminal: joins the lines of each paragraph, and folds them again. */
export function fitHelp(text: string, columns: number, program: string): string {
  if (columns >= HELP_COLUMNS) return text
  const paragraphs: string[] = []
  let before = ''
  for (const line of text.split('\n')) {
    if (/^\S/.test(before) && before.length > FULL_LINE && /^\S/.test(line))
      paragraphs.push(`${paragraphs.pop()!} ${line}`)
    else paragraphs.push(line)
    before = line
  }
  return paragraphs.flatMap((line) => fit(line, columns, program, 0)).join('\n')
}
