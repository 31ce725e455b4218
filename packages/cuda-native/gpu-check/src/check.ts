import type { CheckContext } from './context.js'

/** A finding of a check, for the report: plain JSON. */
export type Fact = string | number | boolean | null | readonly Fact[] | { readonly [name: string]: Fact }

/** Findings by name. */
export interface Facts {
  readonly [name: string]: Fact
}

/** A requirement that is checked on a GPU. */
export interface Check {
  /** Stable, in lower case with hyphens. */
  readonly id: string
  /** The requirement, in one sentence. */
  readonly title: string
  /** Whether the check makes commands fail. Any other check fails if the driver had to recover a command. */
  readonly injectsFaults?: boolean
  /** Whether the check runs in a separate process, because it can disturb the CUDA driver for later checks. */
  readonly alone?: boolean
  /** Time limit, after which the check ends with an error. */
  readonly limitMs: number
  /** @throws CheckFailed if the requirement does not hold; NotApplicable if this machine cannot run the check */
  run(context: CheckContext): Promise<Facts>
}

/** Error: the requirement of a check does not hold. */
export class CheckFailed extends Error {
  override readonly name = 'CheckFailed'
}

/** Error: a check cannot run on this machine. */
export class NotApplicable extends Error {
  override readonly name = 'NotApplicable'
}

export function fail(message: string): never {
  throw new CheckFailed(message)
}

/** Compares by value. @throws CheckFailed if the values differ */
export function equal(what: string, got: unknown, expected: unknown): void {
  const [has, needs] = [JSON.stringify(got), JSON.stringify(expected)]
  if (has !== needs) fail(`${what}: expected ${needs}, got ${has}`)
}

/** Compares every byte. @throws CheckFailed with the number of differing bytes and the first of them */
export function equalBytes(what: string, got: Uint8Array, expected: Uint8Array): void {
  equal(`${what}: length in bytes`, got.length, expected.length)
  if (Buffer.compare(got, expected) === 0) return
  let first = -1
  let wrong = 0
  for (let at = 0; at < got.length; at++) {
    if (got[at] === expected[at]) continue
    if (wrong++ === 0) first = at
  }
  fail(
    `${what}: ${wrong} of ${got.length} bytes differ, the first at ${first}: expected ${expected[first]!}, got ${got[first]!}`,
  )
}
