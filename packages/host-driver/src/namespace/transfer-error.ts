import { CSTS, formatStatus, GpuNvmeError, STATUS } from '@gpunvme/nvme-spec'
import type { CommandOutcome, ExecuteOptions, OutcomeSummary, Plan } from '@gpunvme/nvme-spec/transport'
import { ALL_ONES, nextAfterLoss } from '../bring-up/device-lost.js'

/**
 * Turns a summary with failures into its error: nothing, when every command succeeded.
 * @throws the signal's reason where the plan was aborted and nothing else went wrong, otherwise TransferError.
 */
export function throwOnFailure(plan: Plan, summary: OutcomeSummary, { signal }: ExecuteOptions = {}): void {
  if (summary.failures.length === 0) return
  const aborted = signal?.aborted === true && summary.failures.every(({ outcome }) => outcome.kind === 'not-submitted')
  if (aborted) throw signal.reason
  throw new TransferError(plan, summary, signal?.aborted === true ? signal.reason : undefined)
}

/** Commands of a transfer did not succeed. None of its data may be used. */
export class TransferError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_TRANSFER'
  readonly category = 'device'
  readonly failures: OutcomeSummary['failures']
  /** @param abortedFor the signal's reason, where one ended the transfer before everything was tried. */
  constructor(plan: Plan, summary: OutcomeSummary, abortedFor?: unknown) {
    const first = summary.failures.find(({ outcome }) => outcome.kind !== 'not-submitted') ?? summary.failures[0]!
    const { command, qid, cid } = first
    const blocks = plan.blocks[command]!
    const verb = plan.operation === 'read' ? 'Read' : 'Write'
    const facts = [
      `CID 0x${hex(cid & 0xffff).padStart(4, '0')}  qid ${qid}  NSID ${plan.nsid}  SLBA 0x${hex(plan.slba[command]!)}  ${blocks} ${blocks === 1 ? 'block' : 'blocks'}`,
    ]
    if (summary.failures.length > 1 || plan.commands > 1) {
      facts.push(`${summary.failures.length} of ${plan.commands} commands did not succeed; this is the first of them`)
    }
    const wasAborted = abortedFor !== undefined
    if (wasAborted) facts.push('the transfer was aborted: what had not succeeded by then was not sent again')
    super(`${verb} failed: ${describe(first)}`, { facts, next: nextStep(first, wasAborted), cause: abortedFor })
    this.failures = summary.failures
  }
}

function describe({ outcome, replays = 0 }: CommandOutcome): string {
  switch (outcome.kind) {
    case 'status':
      return formatStatus(outcome)
    case 'timeout': {
      const again = replays === 0 ? '' : `, nor when it was sent again ${replays === 1 ? 'once' : `${replays} times`}`
      return `no completion in ${outcome.afterNs / 1e9} s${again}`
    }
    case 'device-lost':
      if (outcome.reason !== undefined) return `the controller was lost: ${outcome.reason}`
      if (outcome.csts === ALL_ONES) return 'the device is gone: its registers read all ones'
      return CSTS.CFS.of(outcome.csts) === 1
        ? 'CSTS.CFS is set: the controller failed'
        : 'the controller was reset meanwhile'
    case 'unknown':
      return 'its completion was lost, and whether it was carried out is not known'
    case 'not-submitted':
      return 'the engine had stopped before it was submitted'
  }
}

function nextStep({ outcome, replays = 0 }: CommandOutcome, wasAborted: boolean): string {
  if (outcome.kind === 'unknown') return 'write these blocks again, or read them back before they are relied on'
  if (outcome.kind === 'device-lost' && (outcome.reason !== undefined || outcome.csts === ALL_ONES)) {
    return nextAfterLoss(outcome.csts)
  }
  if (outcome.kind === 'timeout' && replays > 0) {
    return 'the controller was brought back each time, and the same blocks got no answer: use others'
  }
  // After an abort the controller is well: whatever it got no answer to, it was brought back for.
  const mayGoAgain = outcome.kind === 'timeout' || (outcome.kind === 'device-lost' && wasAborted)
  if (mayGoAgain) return 'try it once more: nothing says that it fails again'
  if (outcome.kind !== 'status') return 'open the controller again: that resets it'
  const unrecovered =
    outcome.sct === STATUS.UNRECOVERED_READ_ERROR.sct && outcome.sc === STATUS.UNRECOVERED_READ_ERROR.sc
  if (unrecovered) return 'these blocks cannot be read from the media; write them again from the source'
  return outcome.dnr
    ? 'do not repeat it: the controller says that it will fail again'
    : 'the status allows another attempt'
}

function hex(value: number): string {
  return value.toString(16)
}
