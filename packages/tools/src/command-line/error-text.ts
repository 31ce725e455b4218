import type { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { printableLines } from '../terminal/printable.js'
import type { Invocation } from '../terminal/invocation.js'
import { renderStep } from './next-step.js'
import { stepOf } from './step-of.js'

/** An error for users of the command, as in JSON results. */
export interface ErrorText {
  /** Headline, with facts on further lines. */
  readonly message: string
  /** Next step, its commands as they must be typed. */
  readonly next?: string
}

export function errorText(error: GpuNvmeError, invocation: Invocation): ErrorText {
  const step = stepOf(error)
  return {
    message: [error.headline, ...error.facts.map((fact) => `  ${fact}`)].join('\n'),
    ...(step !== undefined && { next: renderStep(step, invocation) }),
  }
}

/** Returns the lines printed for an error; control characters are escaped. */
export function errorLines({ message, next }: ErrorText): string[] {
  return [...printableLines(message), ...(next === undefined ? [] : printableLines(`  Try: ${next}`))]
}
