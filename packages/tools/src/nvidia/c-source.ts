import { createHash } from 'node:crypto'

/**
 * Location of a function in a text, as indexes: `start` of the first line of its definition, `end` after its last
 * brace.
 */
export interface FunctionPlace {
  readonly start: number
  /** Index of the brace that opens its body. */
  readonly bodyStart: number
  readonly end: number
}

interface Token {
  readonly text: string
  readonly at: number
}

/** Comments, literals, line breaks, names, numbers, and other single characters. */
const TOKENS =
  /\/\*[^]*?\*\/|\/\/[^\n]*|"(?:\\[^]|[^"\\\n])*"|'(?:\\[^]|[^'\\\n])*'|\\\r?\n|\n|[A-Za-z_]\w*|\d[\w.]*|[^\s]/g

/** Returns the top-level definitions of a function in a C source; normally one. */
export function findFunctions(source: string, name: string): FunctionPlace[] {
  const code = tokensOf(source).filter(({ text }) => text !== '\n')
  const places: FunctionPlace[] = []
  let depth = 0
  code.forEach(({ text, at }, index) => {
    if (depth === 0 && text === name && code[index + 1]?.text === '(') {
      const opening = closing(code, index + 1, '(', ')') + 1
      if (code[opening]?.text === '{') {
        const last = code[closing(code, opening, '{', '}')]
        // Without its last brace, the definition is incomplete.
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
 * Returns the SHA-256 of the tokens of C code, ignoring comments and white space; line breaks count only in
 * preprocessor directives.
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
  // A preprocessor directive ends with its line; other line breaks are irrelevant.
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

/** Returns the index of the bracket that closes the one at `from`; past the end if there is none. */
function closing(tokens: readonly Token[], from: number, open: string, close: string): number {
  let depth = 0
  for (let index = from; index < tokens.length; index++) {
    if (tokens[index]!.text === open) depth++
    if (tokens[index]!.text === close && --depth === 0) return index
  }
  return tokens.length
}

/** After the last statement, definition or directive before it: its type may be on a separate line. */
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
