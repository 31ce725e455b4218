import { createHash } from 'node:crypto'

/** Where a function is in a text, as indexes: `start` of the line that its definition begins on, and past its last brace. */
export interface FunctionPlace {
  readonly start: number
  /** Of the brace that opens its body. */
  readonly bodyStart: number
  readonly end: number
}

interface Token {
  readonly text: string
  readonly at: number
}

/** Comments, literals, line breaks, names and numbers, and every other character by itself. */
const TOKENS =
  /\/\*[^]*?\*\/|\/\/[^\n]*|"(?:\\[^]|[^"\\\n])*"|'(?:\\[^]|[^'\\\n])*'|\\\r?\n|\n|[A-Za-z_]\w*|\d[\w.]*|[^\s]/g

/** The definitions of a function at the top level of a C source: one, unless something is wrong. */
export function findFunctions(source: string, name: string): FunctionPlace[] {
  const code = tokensOf(source).filter(({ text }) => text !== '\n')
  const places: FunctionPlace[] = []
  let depth = 0
  code.forEach(({ text, at }, index) => {
    if (depth === 0 && text === name && code[index + 1]?.text === '(') {
      const opening = closing(code, index + 1, '(', ')') + 1
      if (code[opening]?.text === '{') {
        const last = code[closing(code, opening, '{', '}')]
        // Without its last brace it is no definition that could be edited.
        if (last !== undefined)
          places.push({ start: startOfDefinition(source, at), bodyStart: code[opening].at, end: last.at + 1 })
      }
    }
    if (text === '{') depth++
    if (text === '}') depth--
  })
  return places
}

/**
 * SHA-256 of a piece of C: of its tokens, whatever lies between them. Comments do not count; line breaks do after a
 * preprocessor's line alone.
 */
export function hashOfCode(source: string): string {
  return createHash('sha256').update(normalised(source)).digest('hex')
}

function normalised(source: string): string {
  const lines: string[][] = [[]]
  for (const { text } of tokensOf(source)) {
    if (text !== '\n') lines.at(-1)!.push(text)
    else if (lines.at(-1)!.length > 0) lines.push([])
  }
  // A preprocessor's line ends where it ends; all other lines might as well be one.
  return lines
    .filter((line) => line.length > 0)
    .map((line) => (line[0] === '#' ? `\n${line.join(' ')}\n` : `${line.join(' ')} `))
    .join('')
}

function tokensOf(source: string): Token[] {
  return [...source.matchAll(TOKENS)].flatMap(({ 0: text, index }) => {
    const isComment = text.startsWith('/*') || text.startsWith('//') || text.startsWith('\\')
    return isComment ? [] : [{ text, at: index }]
  })
}

/** The index of what closes the bracket at `from`; past the end where nothing does. */
function closing(tokens: readonly Token[], from: number, open: string, close: string): number {
  let depth = 0
  for (let index = from; index < tokens.length; index++) {
    if (tokens[index]!.text === open) depth++
    if (tokens[index]!.text === close && --depth === 0) return index
  }
  return tokens.length
}

/** After the last statement, definition or preprocessor's line before it: its type may stand on a line of its own. */
function startOfDefinition(source: string, nameAt: number): number {
  let start = source.lastIndexOf('\n', nameAt) + 1
  while (start > 0) {
    const before = source.lastIndexOf('\n', start - 2) + 1
    const line = source.slice(before, start).trim()
    if (line === '' || /[;}]$|\*\/$|^#|\\$/.test(line)) break
    start = before
  }
  return start
}
