/** A requirement was not met. The message has the check, the actual and the expected value. */
export class CheckFailed extends Error {
  override readonly name = 'CheckFailed'
}

/** The case does not apply to what is tested. */
export class NotApplicable extends Error {
  override readonly name = 'NotApplicable'
}

/** Ends the case as skipped. @throws NotApplicable */
export function notApplicable(reason: string): never {
  throw new NotApplicable(reason)
}

/** Ends the case as failed. @throws CheckFailed */
export function fail(message: string): never {
  throw new CheckFailed(message)
}

/** Fails unless `condition` holds. `expected` describes it, as in 'expected: CSTS.RDY is 1'. @throws CheckFailed */
export function check(condition: boolean, expected: string): asserts condition {
  if (!condition) fail(`expected: ${expected}`)
}

/** Checks for equality: objects and lists by their content. Numbers are also shown in hexadecimal. @throws CheckFailed */
export function equal(what: string, got: unknown, wanted: unknown): void {
  if (got === wanted || textOf(got) === textOf(wanted)) return
  fail(`${what}: expected ${show(wanted, got)}, got ${show(got, wanted)}`)
}

/** Formats a value that is compared with others. Adds hexadecimal to numbers if one of them is above 9. */
export function show(value: unknown, ...others: readonly unknown[]): string {
  if (typeof value !== 'number' && typeof value !== 'bigint') return textOf(value)
  return [value, ...others].every((each) => Number(each) < 10) ? String(value) : `${value} (${value.toString(16)}h)`
}

/** Formats any value as one line. */
export function textOf(value: unknown): string {
  if (value === undefined) return 'undefined'
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part))
}
