import { GpuNvmeError, type ErrorCategory } from '@gpunvme/nvme-spec/error'
import type { ByteSource } from './byte-source.js'
import type { FormatLimits } from './limits.js'
import { decodeStrictUtf8 } from './strict-utf8.js'
import { Window } from './window.js'

const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * Reads the JSON of a safetensors header or index piece by piece. `JSON.parse` is unsuitable: it silently keeps the
 * last of two equal keys, and turns 2^53 + 1 into 2^53. The format uses only objects, strings, and arrays of integers.
 *
 * `ahead` loads a whole entry into the window; everything inside an entry is then synchronous.
 */
export class SafetensorsJson {
  readonly source: ByteSource
  readonly #window: Window
  readonly #entryBytes: number

  constructor(source: ByteSource, startBytes: number, endBytes: number, limits: FormatLimits, signal?: AbortSignal) {
    this.source = source
    // Twice an entry, so that a refill never moves more bytes than it reads.
    this.#window = new Window(source, startBytes, endBytes, 2 * limits.maxEntryBytes, signal)
    this.#entryBytes = limits.maxEntryBytes
  }

  /** Position of the next token in the source. */
  at(): number {
    this.#skipSpace()
    return this.#window.positionBytes
  }

  /** Loads the next entry into the window. */
  async ahead(): Promise<void> {
    if (this.#window.availableBytes < this.#entryBytes) await this.#window.fill(this.#entryBytes)
  }

  /** Consumes this character if it is the next token. */
  accept(character: string): boolean {
    this.#skipSpace()
    if (this.#peek() !== character.charCodeAt(0)) return false
    this.#window.skip(1)
    return true
  }

  /** Consumes this character. @throws SafetensorsError if it is not the next token. */
  expect(character: string, where: string): void {
    if (!this.accept(character)) throw this.#unexpected(`"${character}" ${where}`)
  }

  /** Consumes a comma and returns true, or the closing character and returns false. */
  more(closing: string, where: string): boolean {
    if (this.accept(',')) return true
    this.expect(closing, where)
    return false
  }

  /** Returns whether the next token is a string. */
  isString(): boolean {
    this.#skipSpace()
    return this.#peek() === QUOTE
  }

  /** Reads a string. Names must differ byte for byte, so invalid UTF-8 is rejected, not replaced. */
  string(what: string): string {
    if (!this.isString()) throw this.#unexpected(`a string for the ${what}`)
    const position = this.at()
    const { bytes, cursor, availableBytes } = this.#window
    const limit = cursor + availableBytes
    let plain = true
    let end = cursor + 1
    for (; end < limit && bytes[end] !== QUOTE; end++) {
      const byte = bytes[end]!
      if (byte === BACKSLASH) end++
      if (byte === BACKSLASH || byte < 0x20 || byte >= 0x80) plain = false
    }
    if (end >= limit) throw this.#cutOff()
    this.#window.skip(end + 1 - cursor)
    // Nearly all strings are plain ASCII, which needs no decoder.
    if (plain) return bytes.toString('latin1', cursor + 1, end)
    return this.#decode(bytes.subarray(cursor, end + 1), what, position)
  }

  /** Reads an integer of at most 2^53 - 1, written without sign, fraction, exponent or leading zeros. */
  wholeNumber(what: string): number {
    const position = this.at()
    let value = 0
    let digits = 0
    for (let digit; (digit = this.#peek() - 0x30) >= 0 && digit <= 9; digits++) {
      if (digits > 0 && value === 0) break
      value = value * 10 + digit
      if (value > Number.MAX_SAFE_INTEGER) throw this.error('NUMBER', position, `the ${what} is more than 2^53 - 1`)
      this.#window.skip(1)
    }
    if (digits === 0) throw this.#unexpected(`an integer for the ${what}`)
    const next = String.fromCharCode(Math.max(0, this.#peek()))
    if (/[\d.eE]/.test(next)) throw this.error('NUMBER', position, `the ${what} is not written as a plain integer`)
    return value
  }

  /** Skips a value of any kind. */
  skipValue(levels: number): void {
    if (levels === 0) throw this.error('LIMIT', this.at(), 'it is nested deeper than the limit (maxNestingDepth)')
    if (this.isString()) this.string('value')
    else if (this.accept('{')) {
      if (this.accept('}')) return
      do {
        this.string('key')
        this.expect(':', 'after the key')
        this.skipValue(levels - 1)
      } while (this.more('}', 'or "," after a value'))
    } else if (this.accept('[')) {
      if (this.accept(']')) return
      do this.skipValue(levels - 1)
      while (this.more(']', 'or "," after a value'))
    } else this.#skipLiteral()
  }

  /** Requires that only white space follows, of any length. */
  async end(): Promise<void> {
    for (;;) {
      await this.ahead()
      this.#skipSpace()
      if (this.#window.remainingBytes === 0) return
      if (this.#window.availableBytes > 0) throw this.#unexpected('nothing but space after the closing "}"')
    }
  }

  error(
    problem: SafetensorsProblem,
    positionBytes: number,
    headline: string,
    facts?: readonly string[],
  ): SafetensorsError {
    return new SafetensorsError(problem, this.source.name, positionBytes, headline, facts)
  }

  /** A number, true, false or null. */
  #skipLiteral(): void {
    const { bytes, cursor, availableBytes } = this.#window
    // Long enough for any sensible number and for any literal.
    const text = bytes.toString('latin1', cursor, cursor + Math.min(availableBytes, 64))
    const [literal] = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/.exec(text) ?? []
    if (literal === undefined) throw this.#unexpected('a JSON value')
    this.#window.skip(literal.length)
  }

  #decode(quoted: Uint8Array, what: string, position: number): string {
    const text = decodeStrictUtf8(quoted)
    if (text === undefined) throw this.error('STRING', position, `the ${what} is not UTF-8`)
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      throw this.error('STRING', position, `the ${what} has a control character or an invalid escape`)
    }
    if (/\p{Surrogate}/u.test(value as string)) {
      throw this.error('STRING', position, `the ${what} has half of a surrogate pair`)
    }
    return value as string
  }

  /** Returns the next byte, or -1 at the end of the window. */
  #peek(): number {
    const { bytes, cursor, availableBytes } = this.#window
    return availableBytes > 0 ? bytes[cursor]! : -1
  }

  #skipSpace(): void {
    const { bytes, cursor, availableBytes } = this.#window
    const limit = cursor + availableBytes
    let end = cursor
    while (end < limit && isSpace(bytes[end]!)) end++
    if (end > cursor) this.#window.skip(end - cursor)
  }

  #unexpected(expected: string): SafetensorsError {
    const byte = this.#peek()
    if (byte < 0) return this.#cutOff()
    const got = byte > 0x20 && byte < 0x7f ? `"${String.fromCharCode(byte)}"` : `byte 0x${byte.toString(16)}`
    return this.error('JSON', this.#window.positionBytes, `expected ${expected}, got ${got}`)
  }

  /** At the end of the window: the header has ended, or the entry exceeds the window. */
  #cutOff(): SafetensorsError {
    const { availableBytes, remainingBytes, positionBytes: position } = this.#window
    if (availableBytes === remainingBytes) return this.error('JSON', position, 'the JSON ends before it is complete')
    const headline = `an entry of the JSON is longer than the limit of ${this.#entryBytes} bytes (maxEntryBytes)`
    return this.error('LIMIT', position, headline)
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** Problems of a safetensors file, each with a remedy. The code is `ERR_GPUNVME_SAFETENSORS_<PROBLEM>`. */
const SAFETENSORS_PROBLEMS = {
  TRUNCATED: 'download or copy the file again, and compare its size with the publisher’s',
  LIMIT: 'raise the limit in the options of openModel if you trust the file',
  JSON: 'save the model again with a current writer; the header and the index must be strict JSON',
  STRING: 'save the model again with a current writer; the header must be UTF-8 JSON',
  NUMBER: 'save the model again; sizes and offsets are integers below 2^53',
  DUPLICATE_KEY: 'save the model again; readers differ in which of the two they use',
  FIELD: 'save the model again; a tensor has exactly dtype, shape and data_offsets',
  METADATA: 'save the model again; __metadata__ maps strings to strings',
  SHAPE: 'save the model again; the tensor cannot have this shape',
  LENGTH: 'save the model again; data_offsets must match dtype and shape',
  OVERLAP: 'save the model again; no two tensors may share bytes',
  HOLE: 'save the model again; the tensors must cover the data without gaps',
  WEIGHT_MAP: 'open a .safetensors file of the model, or its index, model.safetensors.index.json',
  FILE_NAME: 'save the model again; the files of an index are in its directory and named without a path',
  EXCESS: 'save the model again; the file must end with its last tensor',
} as const

/** Codes of the reasons why a file is not a valid safetensors file. */
export type SafetensorsProblem = keyof typeof SAFETENSORS_PROBLEMS

/** Error of a malformed or unsupported safetensors file. `code` names the problem. */
export class SafetensorsError extends GpuNvmeError {
  readonly code: `ERR_GPUNVME_SAFETENSORS_${SafetensorsProblem}`
  readonly category: ErrorCategory = 'infeasible'
  readonly sourceName: string
  /** Offset of the problem in the source. */
  readonly positionBytes: number

  constructor(
    problem: SafetensorsProblem,
    sourceName: string,
    positionBytes: number,
    headline: string,
    facts: readonly string[] = [],
  ) {
    super(`Cannot read ${sourceName} as safetensors: ${headline}`, {
      facts: [`at byte ${positionBytes} (0x${positionBytes.toString(16)})`, ...facts],
      next: SAFETENSORS_PROBLEMS[problem],
    })
    this.code = `ERR_GPUNVME_SAFETENSORS_${problem}`
    this.sourceName = sourceName
    this.positionBytes = positionBytes
  }
}
