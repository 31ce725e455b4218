/** Error for a requirement that is not met. The message states the check, the expected and the actual value. */
export class CheckFailed extends Error {
  override readonly name = 'CheckFailed'
}

/** Error that skips a case which does not apply to the implementation under test. */
export class NotApplicable extends Error {
  override readonly name = 'NotApplicable'
}

/** Skips the case. @throws NotApplicable */
export function notApplicable(reason: string): never {
  throw new NotApplicable(reason)
}

/** Fails the case. @throws CheckFailed */
export function fail(message: string): never {
  throw new CheckFailed(message)
}

/** Checks a condition. `expected` describes it, as in 'expected: CSTS.RDY is 1'. @throws CheckFailed */
export function check(condition: boolean, expected: string): asserts condition {
  if (!condition) fail(`expected: ${expected}`)
}

/** Checks for equality; compares objects and lists by their content. @throws CheckFailed */
export function equal(name: string, actual: unknown, expected: unknown): void {
  if (actual === expected || textOf(actual) === textOf(expected)) return
  fail(`${name}: expected ${show(expected, actual)}, got ${show(actual, expected)}`)
}

/** Formats a value that is compared with `others`. Numbers get a hexadecimal form if any of them is above 9. */
export function show(value: unknown, ...others: readonly unknown[]): string {
  if (typeof value !== 'number' && typeof value !== 'bigint') return textOf(value)
  return [value, ...others].every((each) => Number(each) < 10) ? String(value) : `${value} (${value.toString(16)}h)`
}

/** Formats any value as one line. */
export function textOf(value: unknown): string {
  if (value === undefined) return 'undefined'
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part))
}
