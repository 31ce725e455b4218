import type { Device } from './device.js'

/** Counters of the controller since the start of the simulation. They only grow; resets do not clear them. */
export interface Statistics {
  /** Completions posted, by opcode. */
  readonly adminCommands: Readonly<Record<number, number>>
  readonly ioCommands: Readonly<Record<number, number>>
  /** Completions with a status other than success. */
  readonly errors: number
  /** Data of Read commands delivered to the host, and of Write commands fetched from it. */
  readonly bytesRead: number
  readonly bytesWritten: number
  readonly doorbellWrites: number
  /** Interrupts by vector: how often each fired, and how often a mask held one back. */
  readonly interrupts: { readonly fired: readonly number[]; readonly masked: readonly number[] }
  /** Time that packets occupied each direction of the link. */
  readonly upstreamBusyNs: number
  readonly downstreamBusyNs: number
}

/** The counters in the form that the controller updates. */
export class Counters {
  readonly admin = new Float64Array(256)
  readonly io = new Float64Array(256)
  /** Bytes of the blocks of successful I/O commands, by opcode. */
  readonly ioBytes = new Float64Array(256)
  errors = 0
  bytesRead = 0
  bytesWritten = 0
  doorbellWrites = 0
}

/** Returns the current counters. */
export function statisticsOf({ counters, link, interrupts }: Device): Statistics {
  const { admin, io, errors, bytesRead, bytesWritten, doorbellWrites } = counters
  return {
    adminCommands: byOpcode(admin),
    ioCommands: byOpcode(io),
    errors,
    bytesRead,
    bytesWritten,
    doorbellWrites,
    interrupts: { fired: [...interrupts.fired], masked: [...interrupts.masked] },
    upstreamBusyNs: link.upstream.busyNs,
    downstreamBusyNs: link.downstream.busyNs,
  }
}

/** Returns the opcodes that occurred, with their counts. */
function byOpcode(counts: Float64Array): Record<number, number> {
  return Object.fromEntries([...counts.entries()].filter(([, count]) => count > 0))
}
