import type { OutcomeSummary } from '@gpunvme/nvme-spec/transport'

/** The driver did not do what it has to. Its message says what was expected, and what came. */
export class DriverCheckFailed extends Error {
  override readonly name = 'DriverCheckFailed'
}

/** There is nothing here that the case could be asked of. */
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

/** Compares by value, objects by what they hold. */
export function equal(what: string, got: unknown, wanted: unknown): void {
  const [has, needs] = [text(got), text(wanted)]
  if (has !== needs) fail(`${what}: expected ${needs}, got ${has}`)
}

/** Every command of the plan succeeded. */
export function allSucceeded(what: string, { commands, succeeded, failures }: OutcomeSummary): void {
  const outcomes = failures.map(({ command, outcome }) => [command, outcome])
  equal(`${what}: commands that did not succeed`, outcomes.slice(0, 4), [])
  equal(`${what}: commands that succeeded`, succeeded, commands)
}

/** What an error has to be: its class by name, and what its message says, by a part of it. */
export interface ExpectedError {
  readonly name: string
  readonly says?: string
}

/** Throws or rejects as expected, and gives the error. */
export async function refused(what: string, action: () => unknown, { name, says = '' }: ExpectedError): Promise<Error> {
  let caught: unknown
  try {
    await action()
  } catch (error) {
    caught = error
  }
  if (caught === undefined) return fail(`${what}: expected ${name}, and nothing was thrown`)
  if (!(caught instanceof Error)) return fail(`${what}: expected ${name}, got ${text(caught)}`)
  if (caught.name !== name || !caught.message.includes(says)) {
    fail(`${what}: expected ${name}${says && ` that says "${says}"`}, got ${caught.name}: ${caught.message}`)
  }
  return caught
}

function text(value: unknown): string {
  if (value === undefined) return 'nothing'
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part))
}
