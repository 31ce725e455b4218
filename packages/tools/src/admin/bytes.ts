import { UsageError } from '../command-line/usage-error.js'
import { writeBytes } from '../block-io/write-bytes.js'
import type { Io } from '../terminal/io.js'
import type { Output } from '../terminal/output.js'

export function bytesOf(data: DataView): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
}

/** Writes bytes as they are to stdout, for a file or another program. */
export async function writeRaw(data: DataView, { stdout }: Pick<Io, 'stdout'>): Promise<void> {
  await writeBytes(stdout, bytesOf(data))
}

/** Checks what --raw cannot be combined with, before a drive is touched. */
export function checkRaw({ raw = false }: { readonly raw?: boolean }, { json, io }: Output): void {
  if (!raw) return
  if (json) throw new UsageError('--raw and --json are two forms of one result', { next: 'leave one out' })
  if (io.stdout.isTTY === true) {
    throw new UsageError('--raw writes bytes, which a terminal cannot show', { next: 'redirect it: > FILE, or | xxd' })
  }
}
