import { GpuNvmeError, type ErrorCategory } from '@gpunvme/nvme-spec/error'
import type { ByteSource } from './byte-source.js'

/** Enough to distinguish the formats: GGUF's magic, or a safetensors length and its opening brace. */
const SNIFF_BYTES = 9

const BRACE = 0x7b

/**
 * Detects the format of a source by its first bytes; its name is ignored.
 * @throws UnknownFormatError
 */
export async function sniff(
  source: ByteSource,
  signal: AbortSignal | undefined,
): Promise<'gguf' | 'safetensors' | 'safetensors index'> {
  const first = new Uint8Array(Math.min(SNIFF_BYTES, source.sizeBytes))
  await source.read(0, first, signal && { signal })
  if (ascii(first).startsWith('GGUF')) return 'gguf'
  // JSON has no NUL, and a safetensors length without one exceeds 2^56 bytes.
  if (first[0] === BRACE && !first.includes(0)) return 'safetensors index'
  if (looksLikeSafetensors(first, source.sizeBytes)) return 'safetensors'
  throw new UnknownFormatError(source, first)
}

/** safetensors has no magic: accepts a brace at the start of its JSON, or a length that fits in the file. */
function looksLikeSafetensors(first: Uint8Array, sizeBytes: number): boolean {
  if (first.byteLength < 8) return false
  const headerBytes = new DataView(first.buffer).getBigUint64(0, true)
  return first[8] === BRACE || headerBytes <= BigInt(sizeBytes - 8)
}

function ascii(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('')
}

/** Common files that are not models, with the remedy. */
const MISTAKEN = [
  { starts: 'version', next: 'run git lfs pull: the file looks like a Git LFS pointer' },
  { starts: '<', next: 'download the file again: it looks like a web page' },
  { starts: 'PK', next: 'convert it to safetensors: it looks like a zipped PyTorch checkpoint' },
  { starts: 'ggjt', next: 'convert the model to GGUF: this is an older format of ggml' },
]

/** Error of a source that is neither GGUF nor safetensors. */
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
    super(`Unknown format of ${source.name}: ${got}`, {
      facts: ['GGUF starts with "GGUF"; safetensors with an 8-byte header length, then "{"'],
      next: next ?? 'use a .gguf or .safetensors file',
    })
    this.sourceName = source.name
    this.firstBytes = firstBytes
  }
}
