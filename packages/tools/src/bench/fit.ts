import type { Controller, Namespace } from '@gpunvme/host-driver'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { formatBytes } from '../terminal/units.js'
import type { Span } from './addresses.js'
import { RefusedError } from './contender.js'
import { ringBytes } from './plan-ring.js'
import type { Shape } from './shape.js'

/** @throws RefusedError if the drive cannot run the setting, which is never reduced silently. */
export function requireFit(shape: Shape, controller: Controller, namespace: Namespace, span: Span): void {
  const { queues, queueDepth, maxTransferBytes } = controller
  if (queues < shape.jobs) {
    throw new RefusedError({
      reason: `the controller has ${queues} I/O queue pairs, and each job requires one`,
      next: `use --numjobs ${queues}`,
    })
  }
  if (queueDepth < shape.depth) {
    throw new RefusedError({
      reason: `queues of this controller are limited to ${queueDepth} commands`,
      next: `use --qd ${queueDepth}`,
    })
  }
  if (maxTransferBytes < shape.blockBytes) {
    const max = formatBytes(maxTransferBytes)
    throw new RefusedError({
      reason: `commands of this drive are limited to ${max} (MDTS)`,
      next: `use --bs ${max.replace(' ', '')}`,
    })
  }
  if (shape.blockBytes % namespace.blockBytes !== 0) {
    throw new RefusedError({
      reason: `${shape.blockBytes} is not a multiple of the drive's block size, ${namespace.blockBytes} bytes`,
      next: `use --bs ${namespace.blockBytes}`,
    })
  }
  if (span.blocks * namespace.blockBytes < shape.jobs * shape.blockBytes) {
    throw new RefusedError({ reason: 'the area is smaller than one command per job', next: 'raise --size' })
  }
}

/** Allocates memory for commands in flight and one more plan. @throws RefusedError if allocation fails. */
export function allocate(namespace: Namespace, shape: Shape): DmaMemory {
  const lengthBytes = ringBytes(shape)
  try {
    return namespace.dma.alloc(lengthBytes)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new RefusedError({
      reason: `cannot allocate ${formatBytes(lengthBytes)} for commands in flight: ${error.message}`,
      next: 'lower --qd, --numjobs or --bs',
    })
  }
}
