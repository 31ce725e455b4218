import type { Struck } from '@gpunvme/nvme-spec/faults'
import type { Device } from '../controller/device.js'

/** The operation on completion queues that a stale completion needs. */
interface CompletionQueues {
  repeat(qid: number, back: number): boolean
}

/** Posts completions that the host does not expect. Does not strike without a stale entry or an outstanding request. */
export function postUnsolicited(struck: Struck, { events, faults }: Device, queues: CompletionQueues): void {
  const stale = struck.get('stale-completion')
  if (stale && queues.repeat(stale.qid, stale.back)) faults.happened(struck, 'stale-completion')
  const event = struck.get('async-event')
  if (event && events.force(event.aet, event.aei, event.lid)) faults.happened(struck, 'async-event')
}
