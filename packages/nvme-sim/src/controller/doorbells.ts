import type { Device } from './device.js'
import type { Pipeline } from './pipeline.js'
import { SubmissionQueue } from '../queues/queue.js'

/** A doorbell was written, `offset` bytes into the doorbells (PCIe 1.2 §3.1.2). Impossible values have no effect. */
export function ringDoorbell(offset: number, value: number, device: Device, pipeline: Pipeline): void {
  const { queues, link, clock, counters, diagnostics, doorbellStrideBytes, trace } = device
  counters.doorbellWrites++
  const index = offset / doorbellStrideBytes
  const qid = index >> 1
  const isTail = index % 2 === 0
  trace.doorbell(qid, isTail, value)
  const queue = isTail ? queues.sq(qid) : queues.cq(qid)
  let mistake: string | undefined
  if (!Number.isInteger(index)) mistake = `doorbells are ${doorbellStrideBytes} bytes apart`
  else if (!device.isReady()) mistake = 'CSTS.RDY is 0'
  else if (queue === undefined) mistake = 'there is no such queue'
  else {
    // The value counts from now on; its effects begin when the packet has crossed the link.
    const arrivalNs = link.doorbell(clock.now())
    if (queue instanceof SubmissionQueue) {
      mistake = queue.submit(value)
      pipeline.wake(arrivalNs)
    } else {
      mistake = queue.release(value)
      pipeline.drain(queue, arrivalNs)
    }
  }
  if (mistake === undefined) return
  const doorbell = isTail ? `SQ ${qid} tail` : `CQ ${qid} head`
  diagnostics.report(`host rang ${doorbell} ${value}, but ${mistake}`)
}
