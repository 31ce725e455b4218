import { UsageError } from '../command-line/tools-error.js'
import { writeBytes } from '../block-io/write-bytes.js'
import type { Io } from '../terminal/io.js'
import type { Output } from '../terminal/output.js'

export function bytesOf(data: DataView): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
}

/** Writes unformatted bytes to stdout, for a file or another program. */
export async function writeRaw(data: DataView, { stdout }: Pick<Io, 'stdout'>): Promise<void> {
  await writeBytes(stdout, bytesOf(data))
}

/** Rejects combinations with --raw, before a drive is accessed. */
export function checkRaw({ raw = false }: { readonly raw?: boolean }, { json, io }: Output): void {
  if (!raw) return
  if (json) throw new UsageError('--raw and --json are mutually exclusive', { next: 'omit one of them' })
  if (io.stdout.isTTY === true) {
    throw new UsageError('--raw does not write to a terminal', { next: 'redirect the output: > FILE, or | xxd' })
  }
}
