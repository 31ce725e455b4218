// What every driver is measured by: the guest's instructions and the time between two instants of it.
import { closeSync, fstatSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadHardwareHost } from '@gpunvme/cuda-native/host'

/** Of one driver in one shape, in one round: what is printed. */
export interface Measurement {
  readonly driver: string
  readonly shape: string
  readonly ios: number
  readonly ms: number
  /** Of all vCPUs. */
  readonly instructions: { readonly user: number; readonly kernel: number }
  /** Of the process that reads, where it can be known: user and system time. */
  readonly cpuUs?: { readonly user: number; readonly system: number }
}

/** How often and how large: random offsets that are multiples of `bytes`, `depth` of them in flight. */
export interface Shape {
  readonly name: string
  readonly bytes: number
  readonly depth: number
}

/** What the job asks for; see peers.ts. */
export interface Order {
  readonly shapes: readonly Shape[]
  readonly warmUpMs: number
  readonly windowMs: number
  /** The bytes from the namespace's beginning that are read. */
  readonly spanBytes: number
}

export const order = JSON.parse(process.env['PEER_ORDER'] ?? '') as Order

const folder = join('/sys/bus/pci/devices', process.env['PEER_COUNTERS'] ?? '')
writeFileSync(join(folder, 'enable'), '1')
const fd = openSync(join(folder, 'resource2'), 'r+')
const counters = loadHardwareHost().map(fd, 0, fstatSync(fd).size, 'read')
closeSync(fd)

/** Two of them make a window. */
export interface Instant {
  readonly ms: number
  readonly user: number
  readonly kernel: number
}

/** Pairs of numbers of 64 bits, as count-instructions.c has them. */
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
