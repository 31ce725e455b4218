import { constants } from 'node:buffer'
import { totalmem } from 'node:os'

const PAGE_BYTES = 4096

/**
 * Memory of a simulated drive in real time, for queues and data: 4 GiB on Node 20, the longest ArrayBuffer over native
 * memory, or the machine's memory if it has less. Only used pages occupy memory.
 */
export const REAL_TIME_MEMORY_BYTES =
  Math.floor(Math.min(constants.MAX_LENGTH, 2 ** 32, totalmem()) / PAGE_BYTES) * PAGE_BYTES
