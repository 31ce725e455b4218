import { CommandError } from '@gpunvme/host-driver'
import { formatHexDump } from '@gpunvme/nvme-spec/hex-dump'
import { UsageError, ToolsError } from '../command-line/tools-error.js'
import type { Found } from '../decode/decode-structure.js'
import { bytesOf } from './bytes.js'
import type { NextStep } from '../command-line/next-step.js'

/**
 * Returns bytes undecoded: parts, and structures that are not declared. @param startOffset offset of the first byte.
 */
export function dump(title: string, data: DataView, startOffset = 0): Found {
  const bytes = bytesOf(data)
  return { lines: [title, ...formatHexDump(bytes, startOffset)], object: { data: Buffer.from(bytes).toString('hex') } }
}

/** Decodes a drive's reply. @throws ToolsError (DAMAGED_ANSWER) if the decoder rejects the bytes. */
export function decodeAnswer<T>(what: string, decode: () => T): T {
  try {
    return decode()
  } catch (error) {
    // For typed bytes, it is a mistake of the user; these come from the drive.
    if (error instanceof UsageError)
      throw new ToolsError('ERR_GPUNVME_DAMAGED_ANSWER', 'device', `The drive returned invalid data: ${what}`, {
        facts: [error.headline],
        next: 'print the bytes with --raw',
        cause: error,
      })
    throw error
  }
}

/** Returns whether the drive rejected a command because it does not support what was requested. */
export function isUnsupported(error: unknown): error is CommandError {
  if (!(error instanceof CommandError)) return false
  const { sct, sc } = error
  // Invalid Field in Command; Invalid Log Page, of Get Log Page.
  return (sct === 0 && sc === 0x02) || (sct === 1 && sc === 0x09)
}

/** Error of a drive that does not support the request. */
export class NotSupportedError extends ToolsError {
  constructor(what: string, cause: CommandError, next: NextStep) {
    super('ERR_GPUNVME_NOT_SUPPORTED', 'infeasible', `This drive does not support ${what}`, {
      facts: [cause.headline],
      next,
      cause,
    })
  }
}
