/** Fault plans: which faults occur, and when. `@gpunvme/nvme-spec/faults` parses and checks them. */

/**
 * What a fault applies to. All given conditions must hold. Without `register` and `atNs` it applies to commands; with
 * `register`, to the host's accesses to that register; with `atNs`, at a time. Then `nth`, `every`, `probability` and
 * `times`, in that order, choose among the matches.
 */
export interface FaultMatch {
  /** Submission queue of the command, or queue of the doorbell. 0 is Admin. */
  readonly qid?: number
  readonly opcode?: number
  readonly nsid?: number
  /**
   * Matches if any LBA of the command is in [first, last]. Commands that list their blocks in data, such as Copy, have
   * no LBA here.
   */
  readonly lba?: readonly [first: number, last: number]
  /**
   * Register name, such as CSTS. SQyTDBL and CQyHDBL are the doorbells, of queue `qid` or of any queue. Accesses are
   * counted in units of 32 bits: reading all of ASQ is two accesses.
   */
  readonly register?: string
  /** Default: both, if the action applies to both. */
  readonly access?: 'read' | 'write'
  /** Applies once, at this time of the transport's clock. */
  readonly atNs?: number
  /** Applies from this time on, inclusive. Default: from the beginning. */
  readonly fromNs?: number
  /** Applies before this time. Default: to the end. */
  readonly untilNs?: number
  /** Applies only to the n-th match, from 1; with `every`, the first one it applies to. */
  readonly nth?: number
  /** Applies to each n-th match. */
  readonly every?: number
  /** Applies to each match with this probability, above 0 and at most 1. Each rule has its own random stream. */
  readonly probability?: number
  /** Maximum number of times it applies. */
  readonly times?: number
}

/** What a fault does. Offsets in data count from the first byte that the command moves. */
export type FaultAction =
  // Actions on commands. Unless stated otherwise, the command itself is performed.
  /** No completion is posted; Abort does not find the command. */
  | { readonly kind: 'drop-completion' }
  /** The command stops before it has any effect and never completes; Abort finds it. */
  | { readonly kind: 'hang' }
  | { readonly kind: 'delay-completion'; readonly delayNs: number }
  /** The completion is posted twice in succession. */
  | { readonly kind: 'duplicate-completion' }
  /**
   * The completion is delayed until `behind` others were posted to the same completion queue, or `atMostNs` have
   * passed.
   */
  | { readonly kind: 'reorder-completion'; readonly behind: number; readonly atMostNs: number }
  /**
   * The command ends with this status and does nothing. With status success (0h, 0h), it claims success without doing
   * anything.
   */
  | {
      readonly kind: 'status'
      readonly sct: number
      readonly sc: number
      readonly dnr?: boolean
      readonly more?: boolean
      /** Command Retry Delay, 0 to 3. */
      readonly crd?: number
    }
  | { readonly kind: 'corrupt-cid'; readonly xor: number }
  | { readonly kind: 'corrupt-sqhd'; readonly xor: number }
  | { readonly kind: 'corrupt-sqid'; readonly xor: number }
  /** Posted with the Phase Tag of the previous lap: the host does not see it, nor later completions. */
  | { readonly kind: 'corrupt-phase' }
  /**
   * Flips bits in the data that a Read delivers or a Write stores: `xor` is applied to byte `byte`, or, as an array, to
   * successive bytes from there.
   */
  | { readonly kind: 'corrupt-data'; readonly byte: number; readonly xor: number | readonly number[] }
  /**
   * Bytes from `fromByte` up to but not including `toByte`, or to the end, do not arrive; the previous contents stay.
   */
  | { readonly kind: 'torn-dma'; readonly fromByte: number; readonly toByte?: number }
  /**
   * Page `page` of the data, from 0, is written to (or read from) the location of page `to` of the same command; its
   * own location stays unchanged. Limited to pages of the same command, so that no other memory of the host is damaged.
   */
  | { readonly kind: 'wrong-page'; readonly page: number; readonly to: number }
  // Actions on register accesses.
  /** The write never arrives. */
  | { readonly kind: 'lose-write' }
  /**
   * The write and all later ones are delayed by this time, since posted writes do not pass each other. Reads are not
   * delayed.
   */
  | { readonly kind: 'delay-write'; readonly delayNs: number }
  /** The host reads this value. */
  | { readonly kind: 'read-value'; readonly value: number }
  // Actions on CC.EN: only a reset of the function or the subsystem helps.
  /** CSTS.RDY stays 0 after CC.EN was set. */
  | { readonly kind: 'ready-never-rises' }
  /** CSTS.RDY stays 1 after CC.EN was cleared. */
  | { readonly kind: 'ready-never-falls' }
  // Actions on the controller: when a command is fetched, when a register is accessed, or at a time.
  /** CSTS.CFS is set. */
  | { readonly kind: 'fatal-status' }
  /** The device leaves the bus: all later reads return all ones. */
  | { readonly kind: 'remove-device' }
  /** The controller loses all state, as after a function reset that the host did not request. */
  | { readonly kind: 'surprise-reset' }
  /** Another host detaches a namespace: its commands end, and the controller reports the change. */
  | { readonly kind: 'detach-namespace'; readonly nsid: number }
  /** Another host attaches an existing namespace. */
  | { readonly kind: 'attach-namespace'; readonly nsid: number }
  /** The namespace size becomes `blocks`, at most its capacity; the controller reports the change. */
  | { readonly kind: 'resize-namespace'; readonly nsid: number; readonly blocks: number }
  /** Everything takes `factor` times longer for `forNs`. */
  | { readonly kind: 'throttle'; readonly factor: number; readonly forNs: number }
  /**
   * A completion is posted to completion queue `qid` once more: the one that was posted `back` completions before, from
   * 1 for the last one. Does not occur if that entry is no longer, or not yet, in the queue.
   */
  | { readonly kind: 'stale-completion'; readonly qid: number; readonly back: number }
  /**
   * An outstanding Asynchronous Event Request completes with this event: its type, information and log page. Neither
   * that the host has not enabled the event nor that it has not cleared an earlier one prevents it. Does not occur if no
   * request is outstanding.
   */
  | { readonly kind: 'async-event'; readonly aet: number; readonly aei: number; readonly lid: number }

/** One fault: what it applies to, and what it does. */
export interface FaultRule {
  /** Default: `{}`, all commands; for an action on CC.EN, all changes of it. */
  readonly match?: FaultMatch
  readonly action: FaultAction
}

/**
 * Faults as data, so that a failing run can be stored and replayed. If several rules apply to the same thing, each kind
 * of action happens once, for the first of its rules.
 */
export interface FaultPlan {
  readonly rules: readonly FaultRule[]
}
