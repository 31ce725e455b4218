import { MAX_IN_FLIGHT } from '@gpunvme/nvme-spec/engine'
import type { QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import { isPowerOfTwo } from './arguments.js'

/**
 * Checks that the device code supports these queues. It counts entries modulo 2^32, and takes their place and Phase Tag from
 * bits of the count. Therefore a queue needs a power of two of entries, and its completion queue the same number.
 * @throws RangeError, TypeError that name the option to change, if there is one.
 */
export function checkQueues(queues: readonly QueuePairMemory[]): void {
  for (const { qid, sqEntries, cq, maxInFlight } of queues) {
    if (queues.filter((other) => other.cq === cq).length > 1) {
      throw new TypeError(
        `queue ${qid}: expected a completion queue of its own, got a shared one; ` +
          'omit completionQueues in Controller.open, or pass fewer queues',
      )
    }
    if (!isPowerOfTwo(sqEntries)) {
      throw new RangeError(
        `queue ${qid}: expected a power of two as the number of entries, got ${sqEntries}; ` +
          'omit queueEntries in Controller.open',
      )
    }
    if (cq.entries !== sqEntries) {
      throw new RangeError(
        `queue ${qid}: expected a completion queue of ${sqEntries} entries, like its submission queue, got ${cq.entries}`,
      )
    }
    const limit = Math.min(sqEntries - 1, MAX_IN_FLIGHT)
    if (maxInFlight < 1 || maxInFlight > limit) {
      throw new RangeError(
        `queue ${qid}: expected 1 to ${limit} commands in flight with ${sqEntries} entries, got ${maxInFlight}`,
      )
    }
  }
}
