import { createReadStream, statSync } from 'node:fs'
import { addAbortSignal, type Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { FileError, isSystemError } from '../command-line/file-error.js'
import type { InputStream } from '../terminal/io.js'
import { UsageError, ToolsError } from '../command-line/tools-error.js'
import { plural } from '../terminal/units.js'

/** Bytes to write, in order, from a file or stdin. */
export class ByteSource {
  readonly name: string
  /** Number of bytes; undefined for a pipe. */
  readonly lengthBytes: number | undefined
  private readonly stream: Readable
  private readonly signal: AbortSignal
  private readonly iterator: AsyncIterator<Buffer>
  private chunk: Buffer = Buffer.alloc(0)
  private leftBytes: number

  private constructor(name: string, stream: Readable, lengthBytes: number | undefined, signal: AbortSignal) {
    this.name = name
    this.lengthBytes = lengthBytes
    this.leftBytes = lengthBytes ?? Infinity
    // An interrupt must end the wait for a pipe.
    this.stream = addAbortSignal(signal, stream)
    this.signal = signal
    this.iterator = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  }

  /**
   * @param path '-' is stdin.
   * @param requestedBytes number of bytes to use. Default: all.
   * @throws FileError; UsageError for a path without bytes; ShortSourceError for a file with fewer than `wantedBytes`.
   */
  static open(path: string, requestedBytes: number | undefined, stdin: InputStream, signal: AbortSignal): ByteSource {
    if (path === '-') {
      if (stdin.isTTY === true) {
        throw new UsageError('stdin is a terminal', {
          next: 'pass a FILE, or pipe data into stdin',
        })
      }
      return new ByteSource('stdin', stdin, requestedBytes, signal)
    }
    const stats = attemptingSync(`read ${path}`, () => statSync(path))
    if (stats.isDirectory()) throw new UsageError(`${path} is a directory`, { next: 'use a file in it' })
    const sizeBytes = stats.isFile() ? stats.size : undefined
    if (sizeBytes !== undefined && sizeBytes < (requestedBytes ?? 1))
      throw new ShortSourceError(path, sizeBytes, requestedBytes)
    const stream = createReadStream(path, { highWaterMark: 1024 * 1024 })
    return new ByteSource(path, stream, requestedBytes ?? sizeBytes, signal)
  }

  /**
   * Fills a buffer.
   * @returns the number of bytes: fewer than requested only at the end.
   * @throws ShortSourceError if the source ends early; FileError, the signal's reason.
   */
  async fill(into: Uint8Array): Promise<number> {
    const wanted = Math.min(into.length, this.leftBytes)
    let done = 0
    while (done < wanted) {
      if (this.chunk.length === 0 && !(await this.fetch())) break
      const taken = Math.min(this.chunk.length, wanted - done)
      into.set(this.chunk.subarray(0, taken), done)
      this.chunk = this.chunk.subarray(taken)
      done += taken
    }
    this.leftBytes -= done
    const { lengthBytes } = this
    if (done < wanted && lengthBytes !== undefined) {
      throw new ShortSourceError(this.name, lengthBytes - this.leftBytes, lengthBytes)
    }
    return done
  }

  /** Returns whether there are further bytes. */
  async hasMore(): Promise<boolean> {
    return this.leftBytes > 0 && (this.chunk.length > 0 || (await this.fetch()))
  }

  close(): void {
    this.stream.destroy()
  }

  private async fetch(): Promise<boolean> {
    try {
      const next = await this.iterator.next()
      if (next.done === true) {
        await hearSignals()
        this.signal.throwIfAborted()
        return false
      }
      this.chunk = next.value
      return true
    } catch (error) {
      // The stream's own error only states the abort.
      this.signal.throwIfAborted()
      throw isSystemError(error) ? new FileError(`read ${this.name}`, error) : error
    }
  }
}

/**
 * An interrupt on a terminal reaches the whole pipeline: the program that fills the pipe ends, which must not be
 * mistaken for the end of the data. The first turn is the current one of the event loop; the second delivers pending
 * signals.
 */
async function hearSignals(): Promise<void> {
  await setImmediate()
  await setImmediate()
}

function attemptingSync<T>(attempt: string, use: () => T): T {
  try {
    return use()
  } catch (error) {
    throw isSystemError(error) ? new FileError(attempt, error) : error
  }
}

/** Error of a source with fewer bytes than requested. */
export class ShortSourceError extends ToolsError {
  constructor(name: string, foundBytes: number, requestedBytes: number | undefined) {
    super(
      'ERR_GPUNVME_SHORT_SOURCE',
      'infeasible',
      `${name} has ${foundBytes === 0 ? 'no bytes' : `only ${plural(foundBytes, 'byte')}`}`,
      {
        ...(requestedBytes !== undefined && { facts: [`requested: ${plural(requestedBytes, 'byte')}`] }),
        next: 'use another FILE, or a smaller --length',
      },
    )
  }
}
