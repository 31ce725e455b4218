import { styleText } from 'node:util'

type Style = Parameters<typeof styleText>[0]

export interface OutputOptions {
  /** The result is one JSON object on stdout and nothing else. */
  readonly json?: boolean
  /** No narration and no progress. Errors are still written. */
  readonly quiet?: boolean
}

/** Where everything that a command says goes: the result to stdout, narration and progress to stderr. */
export class Output {
  readonly json: boolean
  readonly quiet: boolean
  private status = ''

  constructor({ json = false, quiet = false }: OutputOptions = {}) {
    this.json = json
    this.quiet = quiet
  }

  /** Lines of the result for people. Not with --json: then `object` is the result. */
  print(...lines: string[]): void {
    if (!this.json) this.write(process.stdout, lines)
  }

  /** The result for programs. Not without --json. */
  object(schema: string, value: object): void {
    if (this.json) this.write(process.stdout, [JSON.stringify({ schema, ...value }, jsonValue, 2)])
  }

  /** One of many results for programs, on a line of its own. Not without --json. */
  record(schema: string, value: object): void {
    if (this.json) this.write(process.stdout, [JSON.stringify({ schema, ...value }, jsonValue)])
  }

  /** What is going on, for whoever watches. */
  note(...lines: string[]): void {
    if (!this.quiet) this.write(process.stderr, lines)
  }

  /** What went wrong, or is about to. Never silenced. */
  error(...lines: string[]): void {
    this.write(process.stderr, lines)
  }

  /** A last line on a terminal's stderr that is replaced by the next one, and by anything else that is written. */
  setStatus(text: string): void {
    if (this.quiet || !hasCursor(process.stderr)) return
    process.stderr.write(`\r${text}\u001b[K`)
    this.status = text
  }

  /** Text for stderr in a style, where that is a terminal that wants colours (NO_COLOR, FORCE_COLOR, TERM). */
  noteStyle(style: Style, text: string): string {
    return styleText(style, text, { stream: process.stderr })
  }

  private write(stream: NodeJS.WriteStream, lines: readonly string[]): void {
    if (this.status !== '') {
      process.stderr.write('\r\u001b[K')
      this.status = ''
    }
    stream.write(`${lines.join('\n')}\n`)
  }
}

/** Whether a line can be rewritten in place. */
export function hasCursor(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY && process.env['TERM'] !== 'dumb'
}

/** How wide lines may be: those of a terminal are folded where it ends, those that a program reads are left whole. */
export function columnsOf(stream: NodeJS.WriteStream): number {
  // A terminal that nobody has sized says 0.
  return hasCursor(stream) ? stream.columns || Infinity : Infinity
}

/** 64-bit values that no number holds become decimal strings, and maps objects. */
function jsonValue(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Map) return Object.fromEntries(value) as unknown
  return value
}
