import { spawn } from 'node:child_process'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { unknown, type Known } from '../machine/known.js'
import { formatBytes } from '../terminal/units.js'

export type Compression = 'none' | 'gzip' | 'xz' | 'zstd' | 'lz4'

/** Magic numbers: RFC 1952; the .xz file format 1.2.1; RFC 8878; LZ4 frames as written by the kernel and lz4 -l. */
const MAGIC: readonly (readonly [Compression, string])[] = [
  ['gzip', '1f8b'],
  ['xz', 'fd377a585a00'],
  ['zstd', '28b52ffd'],
  ['lz4', '02214c18'],
  ['lz4', '04224d18'],
]

/** Programs for decompression; Node itself supports only gzip. */
const PROGRAMS = { xz: 'xz', zstd: 'zstd', lz4: 'lz4' } as const

/** Unpacking takes seconds; a program that hangs is killed. */
const MAX_MS = 120_000

/** Returns the compression of a file by its first bytes; undefined if unknown. */
export function compressionOf(start: Buffer): Exclude<Compression, 'none'> | undefined {
  const found = MAGIC.find(([, magic]) => start.subarray(0, magic.length / 2).toString('hex') === magic)
  return found?.[0] as Exclude<Compression, 'none'> | undefined
}

/**
 * Yields the unpacked bytes in pieces; the loop may be left early.
 * @throws UnpackError for a damaged file, or a missing program.
 */
export async function* unpacked(bytes: Buffer, compression: Exclude<Compression, 'none'>): AsyncGenerator<Buffer> {
  if (compression === 'gzip') yield* gunzipped(bytes)
  else yield* throughProgram(bytes, PROGRAMS[compression])
}

/** Unpacks all bytes, at most `atMostBytes`. */
export async function unpackWhole(
  bytes: Buffer,
  compression: Exclude<Compression, 'none'>,
  atMostBytes: number,
): Promise<Known<Buffer>> {
  const parts: Buffer[] = []
  let lengthBytes = 0
  try {
    for await (const part of unpacked(bytes, compression)) {
      lengthBytes += part.length
      if (lengthBytes > atMostBytes) return unknown(`it unpacks to more than ${formatBytes(atMostBytes)}`)
      parts.push(part)
    }
  } catch (error) {
    if (error instanceof UnpackError) return unknown(error.message)
    throw error
  }
  return Buffer.concat(parts)
}

async function* gunzipped(bytes: Buffer): AsyncGenerator<Buffer> {
  const stream = Readable.from([bytes]).pipe(createGunzip())
  try {
    for await (const part of stream) yield part as Buffer
  } catch (error) {
    throw new UnpackError(`it is damaged (gzip: ${(error as Error).message})`)
  } finally {
    stream.destroy()
  }
}

async function* throughProgram(bytes: Buffer, program: string): AsyncGenerator<Buffer> {
  const child = spawn(program, ['-d', '-c', '-q'], { stdio: ['pipe', 'pipe', 'pipe'], timeout: MAX_MS })
  const ended = new Promise<string | undefined>((resolve) => {
    child.on('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code === 'ENOENT' ? `the decompressor ${program} is not installed` : error.message)
    })
    child.on('close', (code, signal) => {
      resolve(code === 0 ? undefined : `${program} cannot unpack it (${signal ?? `exit code ${code}`})`)
    })
  })
  // It may end before reading all input; `ended` reports the reason.
  child.stdin.on('error', () => undefined)
  child.stderr.resume()
  child.stdin.end(bytes)
  try {
    for await (const part of child.stdout) yield part as Buffer
    const problem = await ended
    if (problem !== undefined) throw new UnpackError(problem)
  } finally {
    child.kill()
  }
}

/** Reason of a failed decompression, reported as that of an unknown value. */
export class UnpackError extends Error {}
