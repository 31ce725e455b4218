import { AEI_ERROR, AET, CSTS, DOORBELL_BASE, LID } from '@gpunvme/nvme-spec'
import type { Device } from './device.js'
import { hex, type DiagnosticCode } from './diagnostics.js'
import type { Pipeline } from './pipeline.js'

/**
 * Handles a doorbell write, `offset` bytes into the doorbells (PCIe 1.2 §3.1.2). An invalid value has no effect, except
 * that a submission queue is no longer fetched from: the host must delete it (Base 2.1 §3.3.1.2).
 */
export function ringDoorbell(offset: number, value: number, device: Device, pipeline: Pipeline): void {
  const { counters, doorbellStrideBytes, trace } = device
  counters.doorbellWrites++
  const index = offset / doorbellStrideBytes
  if (!Number.isInteger(index)) {
    const at = hex(DOORBELL_BASE + offset)
    const mistake = `doorbells are ${doorbellStrideBytes} bytes apart`
    device.diagnostics.report('doorbell-address', `host wrote ${value} to ${at}, but ${mistake}`)
    return
  }
  const qid = index >> 1
  const isTail = index % 2 === 0
  trace.doorbell(qid, isTail, value)
  if (!device.isReady()) reportState(device, qid, isTail, value, 'CSTS.RDY is 0')
  else if (isTail) ringTail(qid, value, device, pipeline)
  else ringHead(qid, value, device, pipeline)
}

/** Reports an invalid doorbell value, and raises its event (Base 2.1 §5.1.2.1, Figure 149). */
export function reportValue(device: Device, qid: number, isTail: boolean, value: number, mistake: string): void {
  report('doorbell-value', device, qid, isTail, value, mistake)
  device.events.raise(AET.ERROR_STATUS, AEI_ERROR.INVALID_DOORBELL_VALUE, LID.ERROR_INFORMATION)
}

function ringTail(qid: number, value: number, device: Device, pipeline: Pipeline): void {
  const { queues, link, clock, pci, registers } = device
  const sq = queues.sq(qid)
  if (sq === undefined) {
    reportUnknown(device, qid, true, value)
    return
  }
  const before = sq.tail
  const mistake = sq.submit(sq.shadow?.rung(value) ?? value)
  if (mistake !== undefined) {
    sq.isHalted = true
    reportValue(device, qid, true, value, `${mistake}: fetching stops until the queue is deleted and created again`)
    return
  }
  if (sq.isHalted) {
    reportState(device, qid, true, value, 'an invalid tail has stopped this queue: delete and create it again')
  } else if (before === value && sq.shadow === undefined) {
    reportValue(device, qid, true, value, 'the tail is unchanged: it adds no entry')
  } else if (!pci.isBusMaster) {
    reportState(device, qid, true, value, 'Bus Master Enable is 0: nothing is fetched until CMD.BME is 1')
  } else if (CSTS.SHST.of(registers.get32(CSTS)) === CSTS.SHST.COMPLETE) {
    reportState(device, qid, true, value, 'the controller is shut down (CSTS.SHST = 10b): reset it first')
  }
  // The value is valid from now on; its effects begin when the packet has crossed the link.
  pipeline.wake(link.doorbell(clock.now()))
}

function ringHead(qid: number, value: number, device: Device, pipeline: Pipeline): void {
  const { queues, link, clock, interrupts } = device
  const cq = queues.cq(qid)
  if (cq === undefined) {
    reportUnknown(device, qid, false, value)
    return
  }
  const before = cq.head
  const mistake = cq.release(cq.shadow?.rung(value) ?? value)
  if (mistake !== undefined) {
    reportValue(device, qid, false, value, mistake)
    return
  }
  if (before === value && cq.shadow === undefined) {
    reportValue(device, qid, false, value, 'the head is unchanged: it releases no entry')
  }
  if (cq.vector !== undefined) {
    if (!device.pci.isMessageSignaled) cq.expectRelease()
    interrupts.released()
  }
  pipeline.drain(cq, link.doorbell(clock.now()))
}

function reportUnknown(device: Device, qid: number, isTail: boolean, value: number): void {
  report('doorbell-address', device, qid, isTail, value, 'the queue does not exist')
  device.events.raise(AET.ERROR_STATUS, AEI_ERROR.INVALID_DOORBELL_REGISTER, LID.ERROR_INFORMATION)
}

/** Reports a doorbell write that the controller or the queue does not act on in its present state. */
function reportState(device: Device, qid: number, isTail: boolean, value: number, mistake: string): void {
  report('doorbell-state', device, qid, isTail, value, mistake)
}

function report(
  code: DiagnosticCode,
  { diagnostics }: Device,
  qid: number,
  isTail: boolean,
  value: number,
  mistake: string,
): void {
  diagnostics.report(code, `host rang ${isTail ? `SQ ${qid} tail` : `CQ ${qid} head`} ${value}, but ${mistake}`)
}
