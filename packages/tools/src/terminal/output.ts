import { styleText } from 'node:util'
import { invocationOf, type Invocation } from '../command-line/invocation.js'
import type { Io, OutputStream } from './io.js'

type Style = Parameters<typeof styleText>[0]

/** One line, or an array of lines: spreading many lines into arguments would overflow the stack. */
export type Lines = string | readonly string[]

export interface OutputOptions {
  /** The result is bytes on stdout and nothing else. */
  readonly raw?: boolean
  /** The result is one JSON object on stdout and nothing else. */
  readonly json?: boolean
  /** No narration and no progress. Errors are still written. */
  readonly quiet?: boolean
}

/** Where everything that a command says goes: the result to stdout, narration and progress to stderr. */
export class Output {
  readonly json: boolean
  readonly quiet: boolean
  readonly io: Io
  private readonly raw: boolean
  /** Member `drive` of the next JSON result. */
  private drive: object | undefined
  private status = ''

  constructor({ json = false, quiet = false, raw = false }: OutputOptions, io: Io) {
    this.json = json
    this.raw = raw
    this.quiet = quiet
    this.io = io
  }

  /** How the user starts this program again, for the commands that it prints. */
  get invocation(): Invocation {
    return invocationOf(this.io)
  }

  /** Width of lines on stdout: that of a terminal, otherwise Infinity, since programs read lines whole. */
  get columns(): number {
    return columnsOf(this.io.stdout, this.io)
  }

  /** Width of lines on stderr, by the same rule. */
  get noteColumns(): number {
    return columnsOf(this.io.stderr, this.io)
  }

  /** Whether the last line on stderr can be rewritten in place. */
  get isRedrawn(): boolean {
    return hasCursor(this.io.stderr, this.io)
  }

  /** Lines of the result for people. Not with --json: then `object` is the result. */
  print(...lines: Lines[]): void {
    if (!this.json) this.write(this.io.stdout, lines)
  }

  /**
   * Names the drive that the result is about: as a line of text, and as the member `drive` of the next JSON result. Where
   * stdout carries bytes, the line goes to stderr.
   */
  nameDrive({ line, facts }: { readonly line: string; readonly facts: object }): void {
    this.drive = facts
    if (this.raw) this.note(line)
    else this.print(line)
  }

  /** The result for programs. Not without --json. */
  object(schema: string, value: object): void {
    if (this.json) this.write(this.io.stdout, [JSON.stringify(this.result(schema, value), jsonValue, 2)])
  }

  /** One of many results for programs, on a line of its own. Not without --json. */
  record(schema: string, value: object): void {
    if (this.json) this.write(this.io.stdout, [JSON.stringify(this.result(schema, value), jsonValue)])
  }

  /** What is going on, for whoever watches. */
  note(...lines: Lines[]): void {
    if (!this.quiet) this.write(this.io.stderr, lines)
  }

  /** What went wrong, or is about to. Never silenced. */
  error(...lines: Lines[]): void {
    this.write(this.io.stderr, lines)
  }

  /** A last line on a terminal's stderr that is replaced by the next one, and by anything else that is written. */
  setStatus(text: string): void {
    if (this.quiet || !this.isRedrawn) return
    this.io.stderr.write(`\r${text}\u001b[K`)
    this.status = text
  }

  /** Text for stderr in a style, where that is a terminal that wants colours (NO_COLOR, FORCE_COLOR, TERM). */
  noteStyle(style: Style, text: string): string {
    return styleText(style, text, { stream: this.io.stderr })
  }

  private result(schema: string, value: { readonly drive?: object }): object {
    const { drive } = this
    // The first of many records names the drive; the others are about the same one.
    this.drive = undefined
    return drive === undefined ? { schema, ...value } : { schema, ...value, drive: { ...drive, ...value.drive } }
  }

  private write(stream: OutputStream, lines: readonly Lines[]): void {
    if (this.status !== '') {
      this.io.stderr.write('\r\u001b[K')
      this.status = ''
    }
    stream.write(`${lines.flat().join('\n')}\n`)
  }
}

/** Whether a line can be rewritten in place. */
export function hasCursor(stream: OutputStream, { env }: Pick<Io, 'env'>): boolean {
  return stream.isTTY === true && env['TERM'] !== 'dumb'
}

function columnsOf(stream: OutputStream, io: Io): number {
  return hasCursor(stream, io) ? stream.columns || Infinity : Infinity
}

/** 64-bit values that no number holds become decimal strings, and maps objects. */
function jsonValue(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Map) return Object.fromEntries(value) as unknown
  return value
}
