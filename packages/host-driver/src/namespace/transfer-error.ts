import { CSTS, formatStatus, GpuNvmeError, STATUS } from '@gpunvme/nvme-spec'
import type { CommandOutcome, ExecuteOptions, OutcomeSummary, Plan } from '@gpunvme/nvme-spec/transport'
import { ALL_ONES, nextAfterLoss } from '../commands/device-lost.js'
import { formatDuration } from '../wait.js'

/**
 * Throws the error of a summary with failures; returns if every command succeeded.
 * @throws the signal's reason if the plan was aborted and nothing else went wrong; otherwise TransferError.
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
  /** Commands that did not succeed, in plan order. */
  readonly failures: OutcomeSummary['failures']
  /** @param abortedFor the signal's reason, if the transfer was aborted before all commands were tried. */
  constructor(plan: Plan, summary: OutcomeSummary, abortedFor?: unknown) {
    const first = summary.failures.find(({ outcome }) => outcome.kind !== 'not-submitted') ?? summary.failures[0]!
    const { command, qid, cid } = first
    const blocks = plan.blocks[command]!
    const verb = plan.operation === 'read' ? 'Read' : 'Write'
    const facts = [
      `CID 0x${hex(cid & 0xffff).padStart(4, '0')}  qid ${qid}  NSID ${plan.nsid}  SLBA 0x${hex(plan.slba[command]!)}  ${blocks} ${blocks === 1 ? 'block' : 'blocks'}`,
    ]
    if (summary.failures.length > 1 || plan.commands > 1) {
      facts.push(`${summary.failures.length} of ${plan.commands} commands did not succeed; this is the first`)
    }
    const wasAborted = abortedFor !== undefined
    if (wasAborted) facts.push('the transfer was aborted: commands that had not succeeded were not sent again')
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
      return `no completion in ${formatDuration(outcome.afterNs)}${again}`
    }
    case 'device-lost':
      if (outcome.reason !== undefined) return `the controller was lost: ${outcome.reason}`
      if (outcome.csts === ALL_ONES) return 'the device is gone: its registers read all ones'
      return CSTS.CFS.of(outcome.csts) === 1
        ? 'CSTS.CFS is set: the controller failed'
        : 'the controller was reset meanwhile'
    case 'unknown':
      return 'its completion was lost; whether it was executed is unknown'
    case 'not-submitted':
      return 'the engine had stopped before it was submitted'
  }
}

function nextStep({ outcome, replays = 0 }: CommandOutcome, wasAborted: boolean): string {
  if (outcome.kind === 'unknown') return 'write these blocks again, or read them back before you use them'
  if (outcome.kind === 'device-lost' && (outcome.reason !== undefined || outcome.csts === ALL_ONES)) {
    return nextAfterLoss(outcome.csts)
  }
  if (outcome.kind === 'timeout' && replays > 0) {
    return (
      'raise timeoutNs if the drive needs longer, or use other blocks: ' +
      'the controller was recovered each time, but reads of these never completed'
    )
  }
  // After an abort the controller works: a recovery followed each command without a completion.
  const mayGoAgain = outcome.kind === 'timeout' || (outcome.kind === 'device-lost' && wasAborted)
  if (mayGoAgain) return 'repeat the transfer'
  if (outcome.kind !== 'status') return 'open the controller again, which resets it'
  const unrecovered =
    outcome.sct === STATUS.UNRECOVERED_READ_ERROR.sct && outcome.sc === STATUS.UNRECOVERED_READ_ERROR.sc
  if (unrecovered) return 'these blocks cannot be read from the media; write them again from the source'
  return outcome.dnr
    ? 'do not repeat it: the controller reports that it would fail again (DNR = 1)'
    : 'repeat the transfer: the status allows a retry'
}

function hex(value: number): string {
  return value.toString(16)
}
