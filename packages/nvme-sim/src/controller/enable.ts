import { ACQ, AQA, ASQ, CAP, CC, countOf, memoryPageBytes } from '@gpunvme/nvme-spec'
import type { Device } from './device.js'
import { hex, type Diagnostics } from './diagnostics.js'
import { CompletionQueue, CQE_BYTES, SQE_BYTES, SubmissionQueue } from '../queues/queue.js'

/** Location and size of the Admin queues. */
export interface AdminQueues {
  readonly sqEntries: number
  readonly cqEntries: number
  readonly sqIova: number
  readonly cqIova: number
}

/**
 * Returns why the controller cannot be enabled with its current registers, which sets CSTS.CFS (Base 2.1 §3.1.4.5,
 * §3.5.1).
 */
export function validateEnable(device: Device, admin: AdminQueues): string | undefined {
  const { capabilities, configuration, memory } = device
  const { CSS, MPS, AMS } = CC.decode(configuration)
  const { CSS_NCSS, MPSMIN, MPSMAX, AMS_WRRUPC } = CAP.decode(capabilities)
  if (CSS !== CC.CSS.NVM || CSS_NCSS === 0) return `CC.CSS is ${CSS}, which CAP does not support`
  if (MPS < MPSMIN || MPS > MPSMAX) return `CC.MPS is ${MPS}, CAP allows ${MPSMIN} to ${MPSMAX}`
  if (AMS !== CC.AMS.ROUND_ROBIN && !(AMS === CC.AMS.WRRUPC && AMS_WRRUPC === 1)) {
    return `CC.AMS is ${AMS}, which CAP does not support`
  }
  const { sqEntries, cqEntries, sqIova, cqIova } = admin
  const pageBytes = memoryPageBytes(MPS)
  if (sqEntries < 2 || cqEntries < 2) return `AQA gives ${sqEntries} and ${cqEntries} entries, at least 2 are needed`
  if (sqIova % pageBytes !== 0 || cqIova % pageBytes !== 0) return `ASQ or ACQ is not aligned to ${pageBytes} bytes`
  if (!memory.has(sqIova, sqEntries * SQE_BYTES)) return `ASQ ${hex(sqIova)}: no memory there, or not all of it`
  if (!memory.has(cqIova, cqEntries * CQE_BYTES, 'write'))
    return `ACQ ${hex(cqIova)}: no memory there, or not all of it`
  return undefined
}

/** Creates the Admin queues, if `validateEnable` has found no error. */
export function createAdminQueues(device: Device, admin: AdminQueues): void {
  const { memory, queues, interrupts, configuration, diagnostics } = device
  const { sqEntries, cqEntries, sqIova, cqIova } = admin
  queues.arbiter.select(CC.AMS.of(configuration) === CC.AMS.WRRUPC)
  // The Admin queue uses vector 0, and its interrupts cannot be disabled (Base 2.1 §3.1.4.10).
  const cqPieces = memory.pieces(cqIova, cqEntries * CQE_BYTES, 'write')!
  const cq = new CompletionQueue(0, cqEntries, cqIova, cqPieces, interrupts.vector(0))
  reportStaleEntries(cq, diagnostics)
  queues.addCq(cq)
  queues.addSq(new SubmissionQueue(0, sqEntries, sqIova, memory.pieces(sqIova, sqEntries * SQE_BYTES)!, cq))
}

/** A Phase Tag of 1 before the first lap would be read as a completion (Base 2.1 §4.2.4). */
export function reportStaleEntries(cq: CompletionQueue, diagnostics: Diagnostics): void {
  const stale = cq.countStaleEntries()
  if (stale === 0) return
  diagnostics.report(
    'phase-tag',
    `CQ ${cq.qid} at ${hex(cq.iova)}: ${stale} of its ${cq.entries} entries have the Phase Tag set; ` +
      'clear the memory before creating the queue',
  )
}

/** Reads location and size of the Admin queues from the registers. */
export function adminQueuesOf({ registers }: Device): AdminQueues {
  const { ASQS, ACQS } = AQA.decode(registers.get32(AQA))
  return {
    sqEntries: countOf(ASQS),
    cqEntries: countOf(ACQS),
    sqIova: Number(registers.get64(ASQ)),
    cqIova: Number(registers.get64(ACQ)),
  }
}
