import { UsageError } from '../command-line/usage-error.js'
import { writeStdout } from '../block-io/stdout-bytes.js'

export function bytesOf(data: DataView): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
}

/** Writes bytes as they are to stdout, for a file or another program. */
export async function writeRaw(data: DataView): Promise<void> {
  await writeStdout(bytesOf(data))
}

/** Checks what --raw cannot be combined with, before a drive is touched. */
export function checkRaw({ raw = false, json = false }: { readonly raw?: boolean; readonly json?: boolean }): void {
  if (!raw) return
  if (json) throw new UsageError('--raw and --json are two forms of one result', { next: 'leave one out' })
  if (process.stdout.isTTY) {
    throw new UsageError('--raw writes bytes, which a terminal cannot show', { next: 'redirect it: > FILE, or | xxd' })
  }
}
