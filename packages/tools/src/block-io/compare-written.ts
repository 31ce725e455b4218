import type { Namespace } from '@gpunvme/host-driver'
import { readPieces } from '@gpunvme/layer-loader/store'
import { createHash } from 'node:crypto'
import { lbas } from './byte-range.js'
import type { Written } from './write-pieces.js'
import { ToolsError } from '../command-line/tools-error.js'

/**
 * Reads written data back and compares them. A drive may answer from its cache, so this does not prove that they are on
 * the media.
 * @throws ReadBackError; errors of reading; the signal's reason.
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
  const range = { offsetBytes, lengthBytes }
  for await (const { offsetBytes: at, bytes } of readPieces(namespace, range, { signal, pieceBytes })) {
    const digest = createHash('sha256').update(bytes).digest()
    if (!digest.equals(digests[piece++]!)) throw new ReadBackError(at / blockBytes, bytes.length / blockBytes)
    onProgress(at + bytes.length - offsetBytes)
  }
}

/** Error of a drive that returned other bytes than were written, without an error status. */
export class ReadBackError extends ToolsError {
  constructor(slba: number, blocks: number) {
    super(
      'ERR_GPUNVME_READ_BACK',
      'verification',
      `Verification failed: the drive returned other bytes than were written, in ${lbas(slba, blocks)}`,
      {
        facts: ['compared by SHA-256; earlier blocks match'],
        next: {
          command: ['nvme', 'smart', '--drive', 'ADDRESS'],
          note: 'which counts media errors; then repeat the command',
        },
      },
    )
  }
}
