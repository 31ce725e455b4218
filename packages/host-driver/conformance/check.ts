import { equal, fail, NotApplicable } from '@gpunvme/nvme-sim/case-kit'
import type { OutcomeSummary } from '@gpunvme/nvme-spec/transport'

export { check, equal, fail, notApplicable } from '@gpunvme/nvme-sim/case-kit'

/** Checks that every command of a plan succeeded. */
export function allSucceeded(what: string, { commands, succeeded, failures }: OutcomeSummary): void {
  const outcomes = failures.map(({ command, outcome }) => [command, outcome])
  equal(`${what}: commands that did not succeed`, outcomes.slice(0, 4), [])
  equal(`${what}: commands that succeeded`, succeeded, commands)
}

/** An expected error: the name of its class, and part of its message. */
export interface ExpectedError {
  readonly name: string
  readonly says?: string
}

/** Checks that an action throws or rejects as expected; returns the error. */
export async function refused(what: string, action: () => unknown, { name, says = '' }: ExpectedError): Promise<Error> {
  let caught: unknown
  try {
    await action()
  } catch (error) {
    caught = error
  }
  if (caught instanceof NotApplicable) throw caught
  if (caught === undefined) return fail(`${what}: expected ${name}, got no error`)
  if (!(caught instanceof Error)) return fail(`${what}: expected ${name}, got a value that is not an Error`)
  if (caught.name !== name || !caught.message.includes(says)) {
    fail(`${what}: expected ${name}${says && ` that says "${says}"`}, got ${caught.name}: ${caught.message}`)
  }
  return caught
}
