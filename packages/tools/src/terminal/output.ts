import { styleText } from 'node:util'
import { invocationOf, type Invocation } from './invocation.js'
import { emphasise } from './emphasis.js'
import { fit } from './fit.js'
import type { Io, OutputStream } from './io.js'

type Style = Parameters<typeof styleText>[0]

const CLEAR_LINE = '\r\u001b[K'

/** One line, or an array of lines: spreading many lines into arguments would overflow the stack. */
export type Lines = string | readonly string[]

export interface OutputOptions {
  /** Whether the result is only bytes on stdout. */
  readonly raw?: boolean
  /** Whether the result is one JSON object on stdout. */
  readonly json?: boolean
  /** Whether to suppress notes and progress. Errors are still written. */
  readonly quiet?: boolean
}

/** All output of a command: the result on stdout, notes and progress on stderr. */
export class Output {
  readonly json: boolean
  readonly quiet: boolean
  readonly io: Io
  private readonly raw: boolean
  private readonly argv: readonly string[]
  /** Member `drive` of the next JSON result of a drive. */
  private drive: object | undefined
  private status = ''

  /** @param argv arguments after the program's name, whose drive and model printed commands repeat. */
  constructor({ json = false, quiet = false, raw = false }: OutputOptions, io: Io, argv: readonly string[] = []) {
    this.json = json
    this.raw = raw
    this.quiet = quiet
    this.io = io
    this.argv = argv
  }

  /** How the user starts this program again, for printed commands. */
  get invocation(): Invocation {
    return invocationOf(this.io, this.argv)
  }

  /** Width of lines on stdout: that of a terminal, otherwise Infinity, since programs read lines whole. */
  get columns(): number {
    return columnsOf(this.io.stdout, this.io)
  }

  /** Width of lines on stderr, by the same rule. */
  get noteColumns(): number {
    return columnsOf(this.io.stderr, this.io)
  }

  /** Whether the last line on stderr can be rewritten. */
  get isRedrawn(): boolean {
    return hasCursor(this.io.stderr, this.io)
  }

  /** Prints lines of the result. Ignored with --json, where `object` is the result. */
  print(...lines: Lines[]): void {
    if (this.json) return
    const { stdout } = this.io
    const fitted = this.fitted(lines, this.columns)
    this.write(stdout, emphasise(fitted, stdout))
  }

  /** Prints a result for another program, such as a script or Markdown: neither folded nor coloured. */
  verbatim(text: string): void {
    if (!this.json) this.write(this.io.stdout, [text])
  }

  /**
   * Names the drive of the result: as a line of text, and as member `drive` of the next JSON result of a drive. If
   * stdout has binary data, the line goes to stderr.
   */
  nameDrive({ line, facts }: { readonly line: string; readonly facts: object }): void {
    this.drive = facts
    if (this.raw) this.note(line)
    else this.print(line)
  }

  /** Prints the JSON result. Ignored without --json. `npm run schemas` makes its schema of the type of `value`. */
  object(schema: string, value: object): void {
    if (this.json) this.write(this.io.stdout, [JSON.stringify({ schema, ...value }, jsonValue, 2)])
  }

  /** Prints one of several JSON results on a separate line. Ignored without --json. */
  record(schema: string, value: object): void {
    if (this.json) this.write(this.io.stdout, [JSON.stringify({ schema, ...value }, jsonValue)])
  }

  /** As `object`, for a result of the named drive, whose facts become part of `drive`. */
  driveObject(schema: string, value: object): void {
    this.object(schema, this.withDrive(value))
  }

  /** As `record`, for results of the named drive. Only the first has its facts. */
  driveRecord(schema: string, value: object): void {
    this.record(schema, this.withDrive(value))
  }

  /** Prints a note on what happens. */
  note(...lines: Lines[]): void {
    if (!this.quiet) this.write(this.io.stderr, emphasise(this.fitted(lines, this.noteColumns), this.io.stderr))
  }

  /** Prints an error or warning. Never suppressed. */
  error(...lines: Lines[]): void {
    // The verb that failed has its own output, whose status line is unknown here.
    if (this.isRedrawn) this.io.stderr.write(CLEAR_LINE)
    this.write(this.io.stderr, this.fitted(lines, this.noteColumns))
  }

  /**
   * Sets a status line on a terminal's stderr, which any further output replaces. It is cut to one column less than the
   * width, so that no terminal wraps it.
   */
  setStatus(text: string): void {
    if (this.quiet || !this.isRedrawn) return
    this.io.stderr.write(`\r${text.slice(0, Math.max(1, this.noteColumns - 1))}\u001b[K`)
    this.status = text
  }

  /** Formats text for stderr if that is a terminal with colours (NO_COLOR, FORCE_COLOR, TERM). */
  noteStyle(style: Style, text: string): string {
    return styleText(style, text, { stream: this.io.stderr })
  }

  private withDrive(value: object & { readonly drive?: object }): object {
    const { drive } = this
    this.drive = undefined
    return drive === undefined ? value : { ...value, drive: { ...drive, ...value.drive } }
  }

  private fitted(lines: readonly Lines[], columns: number): string[] {
    if (columns === Infinity) return lines.flat()
    const { program } = this.invocation
    return lines.flat().flatMap((line) => fit(line, columns, program))
  }

  private write(stream: OutputStream, lines: readonly Lines[]): void {
    if (this.status !== '') {
      this.io.stderr.write(CLEAR_LINE)
      this.status = ''
    }
    stream.write(`${lines.flat().join('\n')}\n`)
  }
}

/** Returns whether a line can be rewritten. */
export function hasCursor(stream: OutputStream, { env }: Pick<Io, 'env'>): boolean {
  return stream.isTTY === true && env['TERM'] !== 'dumb'
}

/** Returns the width of a terminal, otherwise Infinity. */
export function columnsOf(stream: OutputStream, io: Pick<Io, 'env'>): number {
  return hasCursor(stream, io) ? stream.columns || Infinity : Infinity
}

/** Converts bigints beyond the exact range of numbers to decimal strings, and maps to objects. */
function jsonValue(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Map) return Object.fromEntries(value) as unknown
  return value
}
