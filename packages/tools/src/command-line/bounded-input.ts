import { createReadStream } from 'node:fs'
import { printable } from '../terminal/printable.js'
import { formatBytes } from '../terminal/units.js'
import { attempting } from './file-error.js'
import type { NextStep } from './next-step.js'
import { UsageError } from './tools-error.js'

/**
 * Reads a stream to its end, but at most `maxBytes`: a device such as /dev/zero has no end.
 * @param next the next step of the error for longer input.
 * @throws UsageError
 */
export async function collectBytes(
  stream: AsyncIterable<Buffer>,
  name: string,
  maxBytes: number,
  next: NextStep,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let lengthBytes = 0
  for await (const chunk of stream) {
    chunks.push(chunk)
    lengthBytes += chunk.length
    if (lengthBytes > maxBytes)
      throw new UsageError(`${printable(name)} is longer than ${formatBytes(maxBytes)}`, { next })
  }
  return Buffer.concat(chunks)
}

/** Returns the text of a file or pipe. @param what name for errors: 'the fault plan'. @throws FileError, UsageError. */
export async function readText(what: string, path: string, maxBytes: number, next: NextStep): Promise<string> {
  const read = () => collectBytes(createReadStream(path) as AsyncIterable<Buffer>, path, maxBytes, next)
  return (await attempting(`read ${what} ${printable(path)}`, read)).toString()
}
