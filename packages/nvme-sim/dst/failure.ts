/** Names of assertions. A failing scenario is minimised while the same assertion fails. */
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
  // Assertions of the driver campaign.
  | 'open'
  | 'outcome'
  | 'deadlock'
  | 'time'
  | 'usable'
  | 'lost'
  | 'leak'
  | 'medium'

/** A defect of the controller or the driver that a run has found. */
export class RunFailure extends Error {
  readonly assertion: Assertion

  constructor(assertion: Assertion, message: string) {
    super(`${assertion}: ${message}`)
    this.name = 'RunFailure'
    this.assertion = assertion
  }
}
