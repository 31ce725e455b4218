import { CheckFailed, NotApplicable } from './check.js'

/** Identity of a case, used in the names of tests and in messages. */
export interface CaseIdentity {
  /** Identifier, unique among all cases. */
  readonly id: string
  /** The requirement, close to the wording of the specification if it comes from there. */
  readonly title: string
  /** Section of the specification with its revision, or another source of the requirement. */
  readonly spec: string
}

/** Result of a case. */
export type CaseOutcome =
  | { readonly outcome: 'passed' }
  | { readonly outcome: 'skipped'; readonly reason: string }
  | { readonly outcome: 'failed'; readonly error: Error }

/**
 * Runs a case and returns its result: passed if `action` resolves, skipped with the reason if it rejects with
 * NotApplicable, otherwise failed with an error that names the case and the requirement.
 */
export async function outcomeOf({ id, title, spec }: CaseIdentity, action: () => Promise<void>): Promise<CaseOutcome> {
  try {
    await action()
    return { outcome: 'passed' }
  } catch (cause) {
    if (cause instanceof NotApplicable) return { outcome: 'skipped', reason: cause.message }
    const what = cause instanceof CheckFailed ? cause.message : String(cause)
    return { outcome: 'failed', error: new Error(`${id}: ${title} (${spec})\n${what}`, { cause }) }
  }
}
