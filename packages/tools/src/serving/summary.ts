import type { Diagnostic } from '@gpunvme/nvme-sim'
import { printable } from '../terminal/printable.js'
import { formatBytes, formatDuration, plural } from '../terminal/units.js'
import { total, type Counters } from './counters.js'
import { qemuWords } from './qemu-line.js'
import { driveJson, type ServedDrive } from './served-drive.js'

/** Counters of the summary, in addition to those shown before. */
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
  /** Number of rules of the fault plan; undefined without one. */
  readonly rules: number | undefined
  readonly wallNs: number
  readonly counters: FinalCounters
  readonly diagnostics: readonly Diagnostic[]
}

/** Returns the summary as text. */
export function describeServed({ socket, drive, trace, rules, wallNs, counters, diagnostics }: Served): string[] {
  const { clients, messages, adminCommands, ioCommands, errors, bytesRead, bytesWritten, faultsInjected } = counters
  return [
    `Served ${drive.profile.name} at ${printable(socket)} for ${formatDuration(wallNs)}`,
    `  clients     ${clients === 0 ? 'none' : `${clients}, ${plural(messages, 'message')}`}`,
    `  commands    ${total(adminCommands)} Admin and ${total(ioCommands)} I/O; ${orNone(errors)} failed`,
    `  read        ${formatBytes(bytesRead)}`,
    `  written     ${formatBytes(bytesWritten)}`,
    `  interrupts  ${fired(counters)}`,
    ...(rules === undefined ? [] : [`  faults      ${orNone(faultsInjected)} injected, by ${plural(rules, 'rule')}`]),
    `  mistakes    ${orNone(diagnostics.length)} by the host`,
    ...(trace === undefined ? [] : [`  trace       ${printable(trace)}`]),
  ]
}

/** JSON record at the start of serving. */
export function startedJson(socket: string, drive: ServedDrive) {
  return { socket, qemu: qemuWords(socket), drive: driveJson(drive) }
}

/** JSON record at the end of serving. */
export function servedJson({ socket, drive, trace, wallNs, counters, diagnostics }: Served) {
  const { clients, messages, errors, bytesRead, bytesWritten, doorbellWrites, faultsInjected } = counters
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
    faultsInjected,
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
