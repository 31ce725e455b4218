import { equal, fail, NotApplicable } from '@gpunvme/nvme-sim/case-kit'
import type { OutcomeSummary } from '@gpunvme/nvme-spec/transport'
import type { ErrorCode } from './error-codes.js'

export { check, equal, fail, notApplicable } from '@gpunvme/nvme-sim/case-kit'

/** Checks that every command of a plan succeeded. */
export function allSucceeded(what: string, { commands, succeeded, failures }: OutcomeSummary): void {
  const outcomes = failures.map(({ command, outcome }) => [command, outcome])
  equal(`${what}: commands that did not succeed`, outcomes.slice(0, 4), [])
  equal(`${what}: commands that succeeded`, succeeded, commands)
}

/** An expected error. */
export type ExpectedError = (
  | { readonly code: ErrorCode }
  /** Error class, for invalid arguments. */
  | { readonly type: 'RangeError' | 'TypeError' }
) & {
  /** Parts of the error message of this package's driver. Not checked for other drivers. */
  readonly says?: string | readonly string[]
}

/** Checks that an action throws or rejects as expected; returns the error. */
export async function refused(what: string, action: () => unknown, expected: ExpectedError): Promise<Error> {
  const thrown = await thrownBy(what, action)
  const { says = [] } = expected
  const wanted = 'code' in expected ? expected.code : expected.type
  if (!(thrown instanceof Error)) return fail(`${what}: expected ${wanted}, got a value that is not an Error`)
  const got = 'code' in expected ? (thrown as Error & { readonly code?: unknown }).code : thrown.name
  const missing = [says].flat().filter((part) => !thrown.message.includes(part))
  if (got === wanted && missing.length === 0) return thrown
  const words = missing.map((part) => `"${part}"`).join(', ')
  return fail(`${what}: expected ${wanted}${words && ` that says ${words}`}, got ${String(got)}: ${String(thrown)}`)
}

/** Returns the value that an action throws or rejects with. @throws CheckFailed if it does neither. */
export async function thrownBy(what: string, action: () => unknown): Promise<unknown> {
  try {
    await action()
  } catch (error) {
    if (error instanceof NotApplicable) throw error
    return error
  }
  return fail(`${what}: expected an error, got none`)
}
