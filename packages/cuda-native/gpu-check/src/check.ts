import type { CheckContext } from './context.js'

/** What a check has found, for the report: plain JSON. */
export type Fact = string | number | boolean | null | readonly Fact[] | { readonly [name: string]: Fact }

/** By name. */
export interface Facts {
  readonly [name: string]: Fact
}

/** Something that holds on every GPU, or does not. */
export interface Check {
  /** Stable, in lower case with hyphens. */
  readonly id: string
  /** What holds, in a sentence. */
  readonly title: string
  /** Whether it makes commands fail: of others, a command that the driver had to send again has failed. */
  readonly provokes?: boolean
  /** Whether what it does to the driver is nobody else's business: it gets a process that nothing else is run in. */
  readonly alone?: boolean
  /** After so long it is given up as an error. */
  readonly limitMs: number
  /** @throws CheckFailed where it does not hold; NotApplicable where there is nothing to ask it of. */
  run(context: CheckContext): Promise<Facts>
}

/** What was promised does not hold. */
export class CheckFailed extends Error {
  override readonly name = 'CheckFailed'
}

/** There is nothing here that this could be asked of. */
export class NotApplicable extends Error {
  override readonly name = 'NotApplicable'
}

export function fail(message: string): never {
  throw new CheckFailed(message)
}

/** Compares by value. */
export function equal(what: string, got: unknown, expected: unknown): void {
  const [has, needs] = [JSON.stringify(got), JSON.stringify(expected)]
  if (has !== needs) fail(`${what}: expected ${needs}, got ${has}`)
}

/** Every byte; says which is the first that differs, and how many do. */
export function equalBytes(what: string, got: Uint8Array, expected: Uint8Array): void {
  equal(`${what}: length in bytes`, got.length, expected.length)
  if (Buffer.compare(got, expected) === 0) return
  let first = -1
  let wrong = 0
  for (let at = 0; at < got.length; at++) {
    if (got[at] === expected[at]) continue
    if (wrong++ === 0) first = at
  }
  fail(`${what}: ${wrong} of ${got.length} bytes differ, the first at ${first}: ${got[first]!} for ${expected[first]!}`)
}
