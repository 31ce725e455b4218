import type { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { printableLines } from '../terminal/printable.js'
import type { Invocation } from './invocation.js'
import { renderStep } from './next-step.js'
import { stepOf } from './step-of.js'

/** An error for users of the command, as results and errors have it in JSON. */
export interface ErrorText {
  /** Headline, and facts on lines below it. */
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

/** Returns the lines that are printed of an error; control characters are escaped. */
export function errorLines({ message, next }: ErrorText): string[] {
  return [...printableLines(message), ...(next === undefined ? [] : printableLines(`  Try: ${next}`))]
}
