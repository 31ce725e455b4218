import { GpuNvmeError, type ErrorCategory } from '@gpunvme/nvme-spec/error'
import type { ByteSource } from './byte-source.js'

/** Enough to tell the formats apart: GGUF's magic, or a safetensors length and its opening brace. */
const SNIFF_BYTES = 9

const BRACE = 0x7b

/**
 * Tells what a source is by its first bytes; its name plays no part.
 * @throws UnknownFormatError
 */
export async function sniff(
  source: ByteSource,
  signal: AbortSignal | undefined,
): Promise<'gguf' | 'safetensors' | 'safetensors index'> {
  const first = new Uint8Array(Math.min(SNIFF_BYTES, source.sizeBytes))
  await source.read(0, first, signal && { signal })
  if (ascii(first).startsWith('GGUF')) return 'gguf'
  // JSON has no NUL, and a safetensors length without one is more than 2^56 bytes.
  if (first[0] === BRACE && !first.includes(0)) return 'safetensors index'
  if (looksLikeSafetensors(first, source.sizeBytes)) return 'safetensors'
  throw new UnknownFormatError(source, first)
}

/** safetensors has no magic. A brace where its JSON starts, or a length that fits in the file, will do. */
function looksLikeSafetensors(first: Uint8Array, sizeBytes: number): boolean {
  if (first.byteLength < 8) return false
  const headerBytes = new DataView(first.buffer).getBigUint64(0, true)
  return first[8] === BRACE || headerBytes <= BigInt(sizeBytes - 8)
}

function ascii(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('')
}

/** First bytes that people meet in place of a model, and what to do then. */
const MISTAKEN = [
  { starts: 'version', next: 'git lfs pull, since the file looks like the pointer that Git LFS keeps in its place' },
  { starts: '<', next: 'download the file again, since this looks like a web page' },
  { starts: 'PK', next: 'convert it to safetensors, since this looks like a zipped PyTorch checkpoint' },
  { starts: 'ggjt', next: 'convert the model again, since this is a predecessor of GGUF' },
]

/** The source is neither GGUF nor safetensors. */
export class UnknownFormatError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_UNKNOWN_FORMAT'
  readonly category: ErrorCategory = 'infeasible'
  readonly sourceName: string
  readonly firstBytes: Uint8Array

  constructor(source: ByteSource, firstBytes: Uint8Array) {
    const text = ascii(firstBytes)
    const hex = Array.from(firstBytes, (byte) => byte.toString(16).padStart(2, '0')).join(' ')
    const got = firstBytes.byteLength === 0 ? 'it is empty' : `its first bytes are ${hex} "${text}"`
    const next = MISTAKEN.find(({ starts }) => text.startsWith(starts))?.next
    super(`Cannot tell the format of ${source.name}: ${got}`, {
      facts: ['GGUF starts with "GGUF"; safetensors with a header length of 8 bytes, then "{"'],
      next: next ?? 'give a .gguf or .safetensors file',
    })
    this.sourceName = source.name
    this.firstBytes = firstBytes
  }
}
