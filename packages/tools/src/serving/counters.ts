import { formatQuantity } from '../report/quantities.js'
import { formatRate, plural } from '../terminal/units.js'

/** Displayed statistics of a server. */
export interface Counters {
  /** Clients so far, including a connected one. */
  readonly clients: number
  readonly connected: boolean
  readonly adminCommands: Readonly<Record<number, number>>
  readonly ioCommands: Readonly<Record<number, number>>
  /** Commands that ended with an error. */
  readonly errors: number
  readonly bytesRead: number
  readonly bytesWritten: number
  /** I/O commands that were fetched and are not complete. */
  readonly queueDepth: number
  readonly faultsInjected: number
}

/** Counters at a time of this machine's clock. */
export interface Sample {
  readonly atMs: number
  readonly counters: Counters
}

/** '4019 commands, 20.5 kIOPS, 84 MB/s read, 0 B/s written, 32 in flight, 0 faults, client 1': a redrawn line. */
export function describeCounters(now: Sample, before: Sample): string {
  const { counters, atMs } = now
  const elapsedNs = (atMs - before.atMs) * 1e6
  const done = total(counters.ioCommands) - total(before.counters.ioCommands)
  return [
    plural(commandsOf(counters), 'command'),
    done > 0 && elapsedNs > 0 ? formatQuantity('iops', (done / elapsedNs) * 1e9) : '0 IOPS',
    `${formatRate(counters.bytesRead - before.counters.bytesRead, elapsedNs)} read`,
    `${formatRate(counters.bytesWritten - before.counters.bytesWritten, elapsedNs)} written`,
    `${counters.queueDepth} in flight`,
    plural(counters.faultsInjected, 'fault'),
    counters.connected ? `client ${counters.clients}` : 'no client',
  ].join(', ')
}

/** '14 commands, 1 error, 1 fault injected': the difference between two samples, for example of one client. */
export function describeDone(now: Counters, before: Counters): string {
  const faults = now.faultsInjected - before.faultsInjected
  return [
    plural(commandsOf(now) - commandsOf(before), 'command'),
    plural(now.errors - before.errors, 'error'),
    ...(faults === 0 ? [] : [`${plural(faults, 'fault')} injected`]),
  ].join(', ')
}

export function commandsOf({ adminCommands, ioCommands }: Pick<Counters, 'adminCommands' | 'ioCommands'>): number {
  return total(adminCommands) + total(ioCommands)
}

export function total(byOpcode: Readonly<Record<number, number>>): number {
  return Object.values(byOpcode).reduce((sum, count) => sum + count, 0)
}
