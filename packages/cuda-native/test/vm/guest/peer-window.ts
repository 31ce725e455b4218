// Measurement of a driver: instructions that the guest executes, and elapsed time, between two instants.
import { closeSync, fstatSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadHardwareHost } from '@gpunvme/cuda-native/host'

/** Printed result of one driver with one shape in one round. */
export interface Measurement {
  readonly driver: string
  readonly shape: string
  readonly ios: number
  readonly ms: number
  /** Instructions of all vCPUs. */
  readonly instructions: { readonly user: number; readonly kernel: number }
  /** User and system CPU time of the reading process; absent if unknown. */
  readonly cpuUs?: { readonly user: number; readonly system: number }
}

/** Reads of `bytes` at random offsets that are multiples of `bytes`, with `depth` in flight. */
export interface Shape {
  readonly name: string
  readonly bytes: number
  readonly depth: number
}

/** Parameters of a measurement, set in peers.measure.ts. */
export interface Order {
  readonly shapes: readonly Shape[]
  readonly warmUpMs: number
  readonly windowMs: number
  /** Size of the range that is read, from the start of the namespace. */
  readonly spanBytes: number
}

export const order = JSON.parse(process.env['PEER_ORDER'] ?? '') as Order

const folder = join('/sys/bus/pci/devices', process.env['PEER_COUNTERS'] ?? '')
writeFileSync(join(folder, 'enable'), '1')
const fd = openSync(join(folder, 'resource2'), 'r+')
const counters = loadHardwareHost().map(fd, 0, fstatSync(fd).size, 'read')
closeSync(fd)

/** Start or end of a measurement window. */
export interface Instant {
  readonly ms: number
  readonly user: number
  readonly kernel: number
}

/**
 * Returns the current time and counts. count-instructions.c stores pairs of 64-bit counts: user and kernel, per vCPU.
 */
export function instant(): Instant {
  const sums = [0, 0]
  for (let index = 0; index < 32; index++) sums[index % 2]! += Number(counters.load64(index * 8))
  return { ms: performance.now(), user: sums[0]!, kernel: sums[1]! }
}

export function between(first: Instant, last: Instant): Pick<Measurement, 'ms' | 'instructions'> {
  return {
    ms: last.ms - first.ms,
    instructions: { user: last.user - first.user, kernel: last.kernel - first.kernel },
  }
}
