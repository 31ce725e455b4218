import { fail, show } from './kit/check.js'
import type { Completed } from './completed.js'

export { check, equal, fail, notApplicable } from './kit/check.js'

/** Checks for one of several allowed values. */
export function oneOf<T extends number | bigint | string>(what: string, got: T, allowed: readonly T[]): void {
  if (!allowed.includes(got)) {
    const expected = allowed.map((value) => show(value, got)).join(' or ')
    fail(`${what}: expected ${expected}, got ${show(got, ...allowed)}`)
  }
}

/** Checks that the command ended with one of these statuses: SCT in hex, a slash, SC in hex; '0/00' is success. */
export function status(completed: Completed, ...allowed: readonly string[]): void {
  if (!allowed.includes(completed.status)) {
    fail(`${completed.request}: expected status ${allowed.join(' or ')} (SCT/SC), got ${completed.status}`)
  }
}

export function success(completed: Completed): void {
  status(completed, '0/00')
}

/** Checks that the command ended with an error. */
export function refused(completed: Completed): void {
  if (completed.status === '0/00') fail(`${completed.request}: expected an error status, got success`)
}
