import type { MatchedFaults } from '@gpunvme/nvme-spec/faults'
import type { Device } from '../controller/device.js'

/** The operation on completion queues that a stale completion needs. */
interface CompletionQueues {
  repeat(qid: number, back: number): boolean
}

/** Posts completions that the host does not expect. Does nothing without a stale entry or an outstanding request. */
export function postUnsolicited(matched: MatchedFaults, { events, faults }: Device, queues: CompletionQueues): void {
  const stale = matched.get('stale-completion')
  if (stale && queues.repeat(stale.qid, stale.back)) faults.record(matched, 'stale-completion')
  const event = matched.get('async-event')
  if (event && events.force(event.aet, event.aei, event.lid)) faults.record(matched, 'async-event')
}
