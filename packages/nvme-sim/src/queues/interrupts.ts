import type { Trace } from '../controller/trace.js'

/** The controller's interrupts, as events that are counted by vector. */
export class InterruptVectors {
  /** How often each vector has fired. */
  readonly fired: Float64Array
  private readonly trace: Trace

  constructor(vectors: number, trace: Trace) {
    this.fired = new Float64Array(vectors)
    this.trace = trace
  }

  /** An entry was posted to a completion queue whose interrupts are enabled. */
  raise(vector: number): void {
    this.fired[vector]!++
    this.trace.interrupt(vector)
  }
}
