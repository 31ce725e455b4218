import type { Completed } from './completed.js'

/** A requirement was not met. The message has the check, the actual and the expected value. */
export class CheckFailed extends Error {
  override readonly name = 'CheckFailed'
}

/** The case turned out not to apply to this controller. */
export class NotApplicable extends Error {
  override readonly name = 'NotApplicable'
}

/** Ends the case as skipped. */
export function notApplicable(reason: string): never {
  throw new NotApplicable(reason)
}

export function fail(message: string): never {
  throw new CheckFailed(message)
}

/** Fails unless `condition` holds; `what` describes it. */
export function check(condition: boolean, what: string): asserts condition {
  if (!condition) fail(`expected: ${what}`)
}

/** Checks for equality. Numbers are also shown in hexadecimal. */
export function equal<T extends number | bigint | string | boolean>(what: string, got: T, wanted: T): void {
  if (got !== wanted) fail(`${what}: expected ${show(wanted, got)}, got ${show(got, wanted)}`)
}

/** Checks for one of several allowed values. */
export function oneOf<T extends number | bigint | string>(what: string, got: T, allowed: readonly T[]): void {
  if (!allowed.includes(got)) {
    const expected = allowed.map((value) => show(value, got)).join(' or ')
    fail(`${what}: expected ${expected}, got ${show(got, ...allowed)}`)
  }
}

/** Checks that lists have the same members in the same order. */
export function sameList<T extends number | string>(what: string, got: readonly T[], wanted: readonly T[]): void {
  const text = (list: readonly T[]) => `[${list.join(', ')}]`
  if (got.length !== wanted.length || got.some((value, index) => value !== wanted[index])) {
    fail(`${what}: expected ${text(wanted)}, got ${text(got)}`)
  }
}

/** Checks that the command ended with one of these statuses: SCT in hex, a slash, SC in hex; '0/00' is success. */
export function status(completed: Completed, ...allowed: readonly string[]): void {
  if (!allowed.includes(completed.status)) {
    fail(`${completed.asked}: expected status ${allowed.join(' or ')} (SCT/SC), got ${completed.status}`)
  }
}

export function success(completed: Completed): void {
  status(completed, '0/00')
}

/** Checks that the command ended with an error. */
export function refused(completed: Completed): void {
  if (completed.status === '0/00') fail(`${completed.asked}: expected an error status, got success`)
}

type Shown = number | bigint | string | boolean

/** Formats values; adds hexadecimal if useful for one of the compared values. */
function show(value: Shown, ...others: readonly Shown[]): string {
  if (typeof value !== 'number' && typeof value !== 'bigint') return String(value)
  return [value, ...others].every((each) => Number(each) < 10) ? String(value) : `${value} (${value.toString(16)}h)`
}
