import type { Namespace } from '@gpunvme/host-driver'
import { createHash } from 'node:crypto'
import { lbas } from './byte-range.js'
import { readPieces } from './read-pieces.js'
import type { Written } from './write-pieces.js'
import { ToolsError } from '../command-line/tools-error.js'

/**
 * Reads back what was written and compares it. A drive may answer from a cache of its own: what is proved is that it
 * has the bytes, not where.
 * @throws ReadBackError; what reading throws; the signal's reason.
 */
export async function compareWritten(
  namespace: Namespace,
  offsetBytes: number,
  { lengthBytes, digests, pieceBytes }: Written,
  signal: AbortSignal,
  onProgress: (doneBytes: number) => void,
): Promise<void> {
  const { blockBytes } = namespace
  let piece = 0
  for await (const { offsetBytes: at, bytes } of readPieces(
    namespace,
    { offsetBytes, lengthBytes },
    { signal, pieceBytes },
  )) {
    const digest = createHash('sha256').update(bytes).digest()
    if (!digest.equals(digests[piece++]!)) throw new ReadBackError(at / blockBytes, bytes.length / blockBytes)
    onProgress(at + bytes.length - offsetBytes)
  }
}

/** The drive gives other bytes than it was given, and reported no error. */
export class ReadBackError extends ToolsError {
  readonly code = 'ERR_GPUNVME_READ_BACK'
  readonly category = 'verification'
  constructor(slba: number, blocks: number) {
    super(`Verification failed: somewhere in ${lbas(slba, blocks)} the drive holds other bytes than were written`, {
      facts: ['compared by SHA-256; what comes before these blocks is right'],
      next: {
        command: ['smart', '--drive', 'ADDRESS'],
        note: 'which counts media errors; then repeat the command',
      },
    })
  }
}
