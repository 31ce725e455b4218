/** What a run may find wrong: the name stays the same while a failing run is cut down. */
export type Assertion =
  | 'bring-up'
  | 'controller-status'
  | 'missing-completion'
  | 'unknown-completion'
  | 'repeated-completion'
  | 'completion-fields'
  | 'status'
  | 'data'
  | 'memory'
  | 'diagnostics'
  | 'abort'
  | 'replay'
  | 'crash'

/** A run has found the controller wrong. */
export class RunFailure extends Error {
  readonly assertion: Assertion

  constructor(assertion: Assertion, message: string) {
    super(`${assertion}: ${message}`)
    this.name = 'RunFailure'
    this.assertion = assertion
  }
}
