/** Assertions of a run; the name stays the same while a failing run is minimised. */
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
  | 'event'
  | 'fused'
  | 'interrupt'
  | 'arbitration'
  | 'namespaces'
  | 'replay'
  | 'crash'
  // For a driver.
  | 'open'
  | 'outcome'
  | 'deadlock'
  | 'time'
  | 'usable'
  | 'lost'
  | 'leak'
  | 'medium'

/** A run has found an error of the controller or the driver. */
export class RunFailure extends Error {
  readonly assertion: Assertion

  constructor(assertion: Assertion, message: string) {
    super(`${assertion}: ${message}`)
    this.name = 'RunFailure'
    this.assertion = assertion
  }
}
