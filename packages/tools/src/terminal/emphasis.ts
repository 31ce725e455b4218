import { styleText } from 'node:util'
import type { OutputStream } from './io.js'

type Style = Parameters<typeof styleText>[0]

/** Parts of lines that a reader looks for first: whether it works, what is blocked, and the next command. */
const EMPHASISED: readonly (readonly [RegExp, Style])[] = [
  [/^Does not work:|(?<=^ *\d* *)BLOCKER:|\bREJECTED\b|(?<= {2})no: [\d, ]+$/, 'red'],
  [/^Works after [^:]*:|(?<=^ *\d* *)PROBLEM:|(?<=^ *)In use:/, 'yellow'],
  [/^Works:|(?<= {2})ready$/, 'green'],
  [/(?<=^| )Next:.*$|(?<=^ +)\$ .*$/, 'cyan'],
]

/** Colours emphasised parts if the stream is a terminal with colours (NO_COLOR, FORCE_COLOR, TERM). */
export function emphasise(lines: readonly string[], stream: OutputStream): string[] {
  const styled = (style: Style, text: string) => styleText(style, text, { stream })
  return lines.map((line, index) => {
    // The command is on a line of its own if there was no room beside 'Next:'.
    if (lines[index - 1]?.endsWith('Next:') === true) return line.replace(/\S.*$/, (text) => styled('cyan', text))
    return EMPHASISED.reduce((text, [part, style]) => text.replace(part, (found) => styled(style, found)), line)
  })
}
