import type { Controller, Namespace } from '@gpunvme/host-driver'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { formatBytes } from '../terminal/units.js'
import type { Span } from './addresses.js'
import { RefusedError } from './contender.js'
import { ringBytes } from './plan-ring.js'
import type { Shape } from './shape.js'

/** @throws RefusedError where this drive has not what the setting asks for: a bench measures what was asked, or nothing. */
export function requireFit(shape: Shape, controller: Controller, namespace: Namespace, span: Span): void {
  const { queues, queueDepth, maxTransferBytes } = controller
  if (queues < shape.jobs) {
    throw new RefusedError({
      reason: `the controller gives ${queues} I/O queue pairs, and each job needs one`,
      next: `--numjobs ${queues}`,
    })
  }
  if (queueDepth < shape.depth) {
    throw new RefusedError({
      reason: `a queue of this controller holds ${queueDepth} commands`,
      next: `--qd ${queueDepth}`,
    })
  }
  if (maxTransferBytes < shape.blockBytes) {
    const most = formatBytes(maxTransferBytes)
    throw new RefusedError({ reason: `a command of this drive carries ${most} at most (MDTS)`, next: `--bs ${most}` })
  }
  if (shape.blockBytes % namespace.blockBytes !== 0) {
    throw new RefusedError({
      reason: `the drive's blocks have ${namespace.blockBytes} bytes, and ${shape.blockBytes} is no multiple`,
      next: `--bs ${namespace.blockBytes}`,
    })
  }
  if (span.blocks * namespace.blockBytes < shape.jobs * shape.blockBytes) {
    throw new RefusedError({ reason: 'there is no room for a command of each job', next: 'a larger --size' })
  }
}

/** Memory for what is in flight, and a plan more. @throws RefusedError where there is not as much. */
export function allocate(namespace: Namespace, shape: Shape): DmaMemory {
  const lengthBytes = ringBytes(shape)
  try {
    return namespace.dma.alloc(lengthBytes)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new RefusedError({
      reason: `no memory of ${formatBytes(lengthBytes)} for what is in flight: ${error.message}`,
      next: 'a smaller --qd, --numjobs or --bs',
    })
  }
}
