import { CAP, STATUS } from '@gpunvme/nvme-spec'
import type { Result, ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import { hex } from '../controller/diagnostics.js'
import { reportValue } from '../controller/doorbells.js'
import { ShadowDoorbells } from '../queues/shadow-doorbells.js'

/** Doorbell Buffer Config (Base 2.1 §5.2.5): from now on every queue also has a doorbell in host memory. */
export function configureDoorbellBuffer({ sqe }: ServedCommand, device: Device): Result {
  const { memory, pageBytes, queues, capabilities, trace, diagnostics, grantedSqs, grantedCqs } = device
  const { PRP1, PRP2 } = sqe
  // Any invalid address yields Invalid Field in Command (Base 2.3 §5.3.5.1).
  if (PRP1 % pageBytes !== 0 || PRP2 % pageBytes !== 0) return STATUS.INVALID_FIELD_IN_COMMAND
  // The doorbells of all queues must fit into the one page, including those of the Admin queues.
  const strideBytes = device.doorbellStrideBytes
  if (2 * strideBytes * (Math.max(grantedSqs, grantedCqs) + 1) > pageBytes) return STATUS.INVALID_FIELD_IN_COMMAND
  const missing = !memory.has(PRP1, pageBytes) ? PRP1 : !memory.has(PRP2, pageBytes, 'write') ? PRP2 : undefined
  if (missing !== undefined) {
    diagnostics.report('queue-memory', `Doorbell Buffer Config: expected a page of host memory at ${hex(missing)}`)
    return STATUS.INVALID_FIELD_IN_COMMAND
  }
  const shadow = new ShadowDoorbells(memory, [PRP1, PRP2], pageBytes, CAP.DSTRD.of(capabilities), {
    seen: (qid, isTail, value) => trace.doorbell(qid, isTail, value),
    mistaken: (qid, isTail, value, mistake) => reportValue(device, qid, isTail, value, mistake),
    lost(iova) {
      device.shadow = undefined
      for (const queue of queues.all()) queue.shadow = undefined
      diagnostics.report('queue-memory', `shadow doorbells: the memory at ${hex(iova)} is no longer mapped`)
    },
  })
  device.shadow = shadow
  for (const queue of queues.all()) shadow.attach(queue)
  return STATUS.SUCCESS
}
