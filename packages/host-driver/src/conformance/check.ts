import type { OutcomeSummary } from '@gpunvme/nvme-spec/transport'

/** The driver violates a requirement. The message has the expected and the actual result. */
export class DriverCheckFailed extends Error {
  override readonly name = 'DriverCheckFailed'
}

/** The case does not apply to this device. */
export class NotApplicable extends Error {
  override readonly name = 'NotApplicable'
}

/** Ends the case as skipped. */
export function notApplicable(reason: string): never {
  throw new NotApplicable(reason)
}

export function fail(message: string): never {
  throw new DriverCheckFailed(message)
}

export function check(condition: boolean, expected: string): asserts condition {
  if (!condition) fail(`expected: ${expected}`)
}

/** Compares by value, objects by their content. */
export function equal(what: string, got: unknown, wanted: unknown): void {
  const [has, needs] = [text(got), text(wanted)]
  if (has !== needs) fail(`${what}: expected ${needs}, got ${has}`)
}

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
  if (caught === undefined) return fail(`${what}: expected ${name}, got no error`)
  if (!(caught instanceof Error)) return fail(`${what}: expected ${name}, got ${text(caught)}`)
  if (caught.name !== name || !caught.message.includes(says)) {
    fail(`${what}: expected ${name}${says && ` that says "${says}"`}, got ${caught.name}: ${caught.message}`)
  }
  return caught
}

function text(value: unknown): string {
  if (value === undefined) return 'undefined'
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part))
}
