/** Plans of reads or writes, their outcomes and their cost: plain data and arithmetic, without memory or queues. */

/**
 * Commands to execute, as plain data: one element per command in each array. A plan refers to no memory and no queue
 * objects. It can be made before anything is allocated, stored, posted to a worker, or executed again on other memory.
 */
export interface Plan {
  readonly operation: 'read' | 'write'
  readonly nsid: number
  readonly blockBytes: number
  /** Number of commands: the length of every array below. */
  readonly commands: number
  /** First LBA. */
  readonly slba: Float64Array
  /** Number of logical blocks, 1 to 65536 (not 0's based). */
  readonly blocks: Uint32Array
  /** Offset of the command's data in the memory that the plan is executed on. */
  readonly offsetBytes: Float64Array
  /** Index into the engine's attached queues. */
  readonly queue: Uint16Array
}

/** How a command ended. Every command of a plan has exactly one outcome. */
export type Outcome =
  | { readonly kind: 'success' }
  | {
      readonly kind: 'status'
      readonly sct: number
      readonly sc: number
      readonly dnr: boolean
      readonly more: boolean
      /** Command Retry Delay, 0 to 3. */
      readonly crd: number
    }
  | { readonly kind: 'timeout'; readonly afterNs: number }
  | {
      readonly kind: 'device-lost'
      readonly csts: number
      /** Why recovery failed. Set only by the owner of a recovery; engines do not know it. */
      readonly reason?: string
    }
  /**
   * A write whose completion was lost in a recovery: its blocks hold the old data, the new, or some of both. Reads
   * never have this outcome, since they are repeated. Set only by the owner of a recovery, not by engines.
   */
  | { readonly kind: 'unknown'; readonly afterNs: number }
  /** Never reached the controller: the plan was aborted, or the failure of an earlier command stopped the engine. */
  | { readonly kind: 'not-submitted' }

/** A command that did not succeed: its location and how it ended. */
export interface CommandOutcome {
  /** Index into the plan. */
  readonly command: number
  readonly qid: number
  readonly cid: number
  readonly outcome: Exclude<Outcome, { kind: 'success' }>
  /** Number of times it was resubmitted after a recovery; absent for none. */
  readonly replays?: number
}

/** How a plan ended: totals, and every command that failed. Times are those of the transport's clock. */
export interface OutcomeSummary {
  /** Number of commands in the plan. */
  readonly commands: number
  readonly succeeded: number
  /** Bytes moved by successful commands. */
  readonly bytes: number
  /** Commands that did not succeed, in plan order. Empty if the whole plan succeeded. */
  readonly failures: readonly CommandOutcome[]
  readonly startNs: number
  readonly endNs: number
}

/**
 * When a busy drive overheats and slows down. Heat is counted in bytes: each transferred byte adds one, and
 * `coolingBytesPerSecond` are subtracted every second; heat stays between 0 and the limit.
 */
export interface ThermalThrottle {
  /** Factor by which everything takes longer while throttled. */
  readonly factor: number
  /** Heat at which throttling begins. */
  readonly limitBytes: number
  /** Heat at which throttling ends. */
  readonly recoveredBytes: number
  readonly coolingBytesPerSecond: number
}

/** Cost of a plan, for planners: pure arithmetic, the same on every machine. */
export interface CostModel {
  /**
   * Returns the mean nanoseconds from one completion to the next in a long run of reads of `lengthBytes`, with
   * `queueDepth` in flight. At a depth of 1 that is the whole latency of a read.
   * @throws RangeError for a length or depth that no command can have.
   */
  readNs(lengthBytes: number, queueDepth: number): number
  /** Returns the nanoseconds to copy `lengthBytes` from host to GPU memory. Absent if unknown or not needed. */
  copyNs?(lengthBytes: number): number
  /** When heat raises this cost. Absent if the drive does not throttle. */
  readonly throttle?: ThermalThrottle
}
