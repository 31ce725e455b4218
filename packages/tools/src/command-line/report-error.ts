import { GpuNvmeError, type ErrorCategory } from '@gpunvme/nvme-spec/error'
import { errorLines, errorText, type ErrorText } from './error-text.js'
import { EXIT } from './exit-codes.js'
import { FileError, isSystemError } from './file-error.js'
import { firstFailure } from './first-failure.js'
import type { Invocation } from '../terminal/invocation.js'
import type { Output } from '../terminal/output.js'
import { printableLines } from '../terminal/printable.js'

const REPORT_TO = 'https://github.com/gpunvme/gpunvme/issues'

/** An error as it is reported to the user. */
export interface Reported extends ErrorText {
  readonly code: string
  readonly category: ErrorCategory
  /** Stack trace of an unexpected error. */
  readonly stack?: string
}

/**
 * Prints an error on stderr, and with --json also on stdout, as the only object there.
 * @returns the exit code.
 */
export function reportError(output: Output, error: unknown): number {
  const { stack, ...reported } = describeError(firstFailure(error), output.invocation)
  const [headline = '', ...rest] = errorLines(reported)
  output.error(output.noteStyle('red', headline), rest)
  if (stack !== undefined)
    output.error(printableLines(stack), `This is a defect of gpunvme. Please report it: ${REPORT_TO}`)
  output.object('gpunvme.error/1', { error: reported })
  return EXIT[reported.category]
}

/** Describes any thrown value; unexpected errors get a stack trace. */
export function describeError(error: unknown, invocation: Invocation): Reported {
  if (error instanceof GpuNvmeError)
    return { code: error.code, category: error.category, ...errorText(error, invocation) }
  if (isSystemError(error)) return describeError(fileError(error), invocation)
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  const stack = error instanceof Error ? error.stack : undefined
  return { code: 'ERR_GPUNVME_UNEXPECTED', category: 'failure', message, stack: stack ?? '(no stack)' }
}

/** Converts a system error without context: only the system's text is known, and a stack trace would not help. */
function fileError(error: NodeJS.ErrnoException): FileError {
  return new FileError([error.syscall, error.path].filter((part) => part !== undefined).join(' '), error)
}
