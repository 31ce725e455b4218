import { printable } from '../terminal/printable.js'
import { formatBytes, formatDuration, plural } from '../terminal/units.js'
import { total, type Counters } from './counters.js'
import { qemuWords } from './qemu-line.js'
import { driveJson, type ServedDrive } from './served-drive.js'

/** What the summary adds to what was shown meanwhile. */
export interface FinalCounters extends Counters {
  readonly messages: number
  readonly doorbellWrites: number
  readonly interrupts: { readonly fired: readonly number[] }
}

/** A server that has ended. */
export interface Served {
  readonly socket: string
  readonly drive: ServedDrive
  readonly trace: string | undefined
  /** How many the fault plan has; undefined without one. */
  readonly rules: number | undefined
  readonly wallNs: number
  readonly counters: FinalCounters
  readonly diagnostics: readonly string[]
}

/** For people. */
export function describeServed({ socket, drive, trace, rules, wallNs, counters, diagnostics }: Served): string[] {
  const { clients, messages, adminCommands, ioCommands, errors, bytesRead, bytesWritten, faultsStruck } = counters
  return [
    `Served ${drive.profile.name} at ${printable(socket)} for ${formatDuration(wallNs)}`,
    `  clients     ${clients === 0 ? 'none' : `${clients}, who sent ${plural(messages, 'message')}`}`,
    `  commands    ${total(adminCommands)} Admin and ${total(ioCommands)} I/O; ${orNone(errors)} ended with an error`,
    `  read        ${formatBytes(bytesRead)}`,
    `  written     ${formatBytes(bytesWritten)}`,
    `  interrupts  ${fired(counters)}`,
    ...(rules === undefined
      ? []
      : [`  faults      ${orNone(faultsStruck)} struck, by a plan of ${plural(rules, 'rule')}`]),
    `  mistakes    ${orNone(diagnostics.length)} of the host's`,
    ...(trace === undefined ? [] : [`  trace       ${printable(trace)}`]),
  ]
}

/** For programs, while it is served. */
export function startedJson(socket: string, drive: ServedDrive): object {
  return { socket, qemu: qemuWords(socket), drive: driveJson(drive) }
}

/** For programs. */
export function servedJson({ socket, drive, trace, wallNs, counters, diagnostics }: Served): object {
  const { clients, messages, errors, bytesRead, bytesWritten, doorbellWrites, faultsStruck } = counters
  return {
    ...startedJson(socket, drive),
    ...{ wallNs, clients, messages },
    adminCommands: total(counters.adminCommands),
    ioCommands: total(counters.ioCommands),
    errors,
    readBytes: bytesRead,
    writtenBytes: bytesWritten,
    doorbellWrites,
    interrupts: fired(counters),
    faultsStruck,
    diagnostics,
    ...(trace !== undefined && { trace }),
  }
}

function fired({ interrupts }: FinalCounters): number {
  return interrupts.fired.reduce((sum, count) => sum + count, 0)
}

function orNone(count: number): string {
  return count === 0 ? 'none' : String(count)
}
