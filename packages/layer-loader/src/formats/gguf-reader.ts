import { GpuNvmeError, type ErrorCategory } from '@gpunvme/nvme-spec/error'
import type { ByteSource } from './byte-source.js'
import { countBytes } from './count-bytes.js'
import type { FormatLimits } from './limits.js'
import { Window } from './window.js'

/** Bytes of the window: a few thousand tensor entries or a few hundred kilobytes of tokens. */
const WINDOW_BYTES = 256 * 1024

/** More than any fixed-size run of fields in a GGUF header. */
const LOOKAHEAD_BYTES = 64

/**
 * Reads the primitive fields of a GGUF header. `ahead` waits for bytes; the fields are then read synchronously. Each
 * read is checked against the end of the source first.
 */
export class GgufReader {
  readonly source: ByteSource
  readonly #window: Window
  readonly #maxBytes: number

  constructor(source: ByteSource, limits: FormatLimits, signal: AbortSignal | undefined) {
    this.source = source
    this.#maxBytes = limits.maxGgufHeaderBytes
    this.#window = new Window(source, 0, source.sizeBytes, WINDOW_BYTES, signal)
  }

  get positionBytes(): number {
    return this.#window.positionBytes
  }

  get remainingBytes(): number {
    return this.#window.remainingBytes
  }

  /** Whether the next run of fields is already in the window; checking it first saves a million awaits. */
  get isAhead(): boolean {
    return this.#window.availableBytes >= LOOKAHEAD_BYTES
  }

  /** Loads the next run of fields into the window. */
  ahead(): Promise<void> {
    return this.#window.fill(LOOKAHEAD_BYTES)
  }

  u32(what: string): number {
    return this.field(4, what, (view, at) => view.getUint32(at, true))
  }

  /** @throws GgufError for more than 2^53 - 1: no source is that long, and a number would be inexact. */
  u64(what: string): number {
    const position = this.positionBytes
    const value = this.field(8, what, (view, at) => view.getUint32(at + 4, true) * 2 ** 32 + view.getUint32(at, true))
    if (value <= Number.MAX_SAFE_INTEGER) return value
    throw this.error('TOO_LARGE', position, `the ${what} is about ${value.toExponential(2)}, more than 2^53 - 1`)
  }

  /** Reads one field of a fixed size, at most `LOOKAHEAD_BYTES` long. */
  field<T>(lengthBytes: number, what: string, get: (view: DataView, at: number) => T): T {
    this.require(lengthBytes, what)
    const value = get(this.#window.view, this.#window.cursor)
    this.#window.skip(lengthBytes)
    return value
  }

  /** Reads the bytes of a string. The caller has checked the length against a limit. */
  async bytes(lengthBytes: number, what: string): Promise<Buffer> {
    this.require(lengthBytes, what)
    return this.#window.take(lengthBytes)
  }

  skip(lengthBytes: number, what: string): void {
    this.require(lengthBytes, what)
    this.#window.skip(lengthBytes)
  }

  /**
   * @throws GgufError if the source or the limit ends before `lengthBytes` more; called before each use of a length.
   */
  require(lengthBytes: number, what: string): void {
    const { positionBytes, remainingBytes } = this
    if (lengthBytes > remainingBytes) {
      const missing = lengthBytes - remainingBytes
      const headline = `the file ends inside the ${what}: ${countBytes(lengthBytes)} needed, ${missing} missing`
      throw this.error('TRUNCATED', positionBytes, headline)
    }
    if (lengthBytes > this.#maxBytes - positionBytes) {
      const headline = `the ${what} ends beyond the limit of ${this.#maxBytes} bytes (maxGgufHeaderBytes)`
      throw this.error('LIMIT', positionBytes, headline)
    }
  }

  error(
    problem: GgufProblem,
    positionBytes: number,
    headline: string,
    facts: readonly string[] = [],
    next?: string,
  ): GgufError {
    return new GgufError(problem, this.source.name, positionBytes, headline, facts, next)
  }
}

/** Problems of a GGUF, each with a remedy. The code is `ERR_GPUNVME_GGUF_<PROBLEM>`. */
const GGUF_PROBLEMS = {
  VERSION: 'convert the model again with a current converter, which writes version 3',
  BIG_ENDIAN: 'convert the model again as little-endian',
  TRUNCATED: 'download or copy the file again, and compare its size with the publisher’s',
  TOO_LARGE: 'download the file again and compare its checksum; a valid file has no such number',
  LIMIT: 'raise the limit in the options of openModel if you trust the file',
  KEY: 'convert the model again; its metadata keys are invalid',
  DUPLICATE_KEY: 'convert the model again; readers differ in which of the two values they use',
  VALUE_TYPE: 'convert the model again; metadata types are 0 to 12',
  VALUE: 'convert the model again; the value is invalid for its type',
  NESTING: 'raise maxNestingDepth in the options of openModel if you trust the file',
  ALIGNMENT: 'write general.alignment as a uint32 that is a power of two, for example 32',
  NAME: 'rename the tensor and convert the model again',
  DUPLICATE_TENSOR: 'convert the model again; tensor names must be unique',
  DIMENSIONS: 'reshape the tensor to at most 4 dimensions',
  SHAPE: 'convert the model again; the tensor cannot have these dimensions',
  BLOCK: 'quantise the tensor to a type whose blocks fit its rows, such as F16',
  OFFSET: 'write the model again; tensors start at multiples of general.alignment',
  OVERLAP: 'write the model again; no two tensors may share bytes',
} as const

/** Codes of the reasons why a file is not a valid GGUF file. */
export type GgufProblem = keyof typeof GGUF_PROBLEMS

/** Error of a malformed or unsupported GGUF. `code` names the problem. */
export class GgufError extends GpuNvmeError {
  readonly code: `ERR_GPUNVME_GGUF_${GgufProblem}`
  readonly category: ErrorCategory = 'infeasible'
  readonly sourceName: string
  /** Offset of the invalid field in the source. */
  readonly positionBytes: number

  constructor(
    problem: GgufProblem,
    sourceName: string,
    positionBytes: number,
    headline: string,
    facts: readonly string[] = [],
    next: string = GGUF_PROBLEMS[problem],
  ) {
    super(`Cannot read ${sourceName} as GGUF: ${headline}`, {
      facts: [`at byte ${positionBytes} (0x${positionBytes.toString(16)})`, ...facts],
      next,
    })
    this.code = `ERR_GPUNVME_GGUF_${problem}`
    this.sourceName = sourceName
    this.positionBytes = positionBytes
  }
}
