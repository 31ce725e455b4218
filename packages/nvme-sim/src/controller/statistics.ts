import type { Device } from './device.js'

/** What the controller has done since the simulation began. Counters only grow; resets leave them. */
export interface Statistics {
  /** Completions posted, by opcode. */
  readonly adminCommands: Readonly<Record<number, number>>
  readonly ioCommands: Readonly<Record<number, number>>
  /** Completions whose status was not success. */
  readonly errors: number
  /** Data of Read commands delivered to the host, and of Write commands taken from it. */
  readonly bytesRead: number
  readonly bytesWritten: number
  readonly doorbellWrites: number
  /** Interrupts by vector: how often each fired, and how often a mask held one back. */
  readonly interrupts: { readonly fired: readonly number[]; readonly masked: readonly number[] }
  /** How long packets have occupied each direction of the link. */
  readonly upstreamBusyNs: number
  readonly downstreamBusyNs: number
}

/** The counters as the controller keeps them. */
export class Counters {
  readonly admin = new Float64Array(256)
  readonly io = new Float64Array(256)
  /** Bytes of the blocks that I/O commands have worked on with success, by opcode. */
  readonly ioBytes = new Float64Array(256)
  errors = 0
  bytesRead = 0
  bytesWritten = 0
  doorbellWrites = 0
}

/** The counters as they stand. */
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

/** The opcodes that occurred, with how often. */
function byOpcode(counts: Float64Array): Record<number, number> {
  return Object.fromEntries([...counts.entries()].filter(([, count]) => count > 0))
}
