import { CommandError } from '@gpunvme/host-driver'
import { UsageError } from '../command-line/usage-error.js'
import type { Found } from '../decode/decode-structure.js'
import { formatHexDump } from '../decode/hex-lines.js'
import { bytesOf } from './bytes.js'
import { ToolsError } from '../command-line/tools-error.js'
import type { NextStep } from '../command-line/next-step.js'

/** Bytes as they are: those that nothing is declared for, and parts. @param startOffset of the first of them. */
export function dump(title: string, data: DataView, startOffset = 0): Found {
  const bytes = bytesOf(data)
  return { lines: [title, ...formatHexDump(bytes, startOffset)], object: { data: Buffer.from(bytes).toString('hex') } }
}

/** What a decoder makes of a drive's answer. @throws DamagedAnswerError where it says that the bytes cannot be right. */
export function decodeAnswer<T>(what: string, decode: () => T): T {
  try {
    return decode()
  } catch (error) {
    // Typed bytes would be the user's own; these are the drive's.
    if (error instanceof UsageError) throw new DamagedAnswerError(what, error)
    throw error
  }
}

/** Whether the drive refused a question because it does not have what was asked for. */
export function isUnsupported(error: unknown): error is CommandError {
  if (!(error instanceof CommandError)) return false
  const { sct, sc } = error
  // Invalid Field in Command; Invalid Log Page, of Get Log Page.
  return (sct === 0 && sc === 0x02) || (sct === 1 && sc === 0x09)
}

/** The drive says that it does not have what was asked for. */
export class NotSupportedError extends ToolsError {
  readonly code = 'ERR_GPUNVME_NOT_SUPPORTED'
  readonly category = 'infeasible'
  constructor(what: string, cause: CommandError, next: NextStep) {
    super(`This drive does not have ${what}`, { facts: [cause.headline], next, cause })
  }
}

/** A drive's answer contradicts itself. */
export class DamagedAnswerError extends ToolsError {
  readonly code = 'ERR_GPUNVME_DAMAGED_ANSWER'
  readonly category = 'device'
  constructor(what: string, cause: UsageError) {
    super(`The drive's answer cannot be right: ${what}`, {
      facts: [cause.headline],
      next: '--raw, for the bytes',
      cause,
    })
  }
}
