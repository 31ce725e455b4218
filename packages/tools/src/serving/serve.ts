import { nativeHostModule } from '@gpunvme/cuda-native/host'
import {
  removeSocket,
  startVfioUserServer,
  VfioUserServerError,
  type VfioUserServer,
  type VfioUserServerOptions,
} from '@gpunvme/nvme-sim/vfio-user'
import type { FaultPlan } from '@gpunvme/nvme-spec/transport'
import { lstatSync } from 'node:fs'
import { sameFile } from '../block-io/same-file.js'
import { claimImage } from '../drive/image-users.js'
import { shellLine } from '../terminal/invocation.js'
import { undoOnFailure } from '../command-line/cleanup.js'
import { EXIT } from '../command-line/exit-codes.js'
import { FileError, isSystemError } from '../command-line/file-error.js'
import { UsageError, ToolsError } from '../command-line/tools-error.js'
import type { Lines, Output } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import type { Format } from '../tracing/write-events.js'
import { attend, attendDuring, type Attended } from './attend.js'
import { howToConnect } from './qemu-line.js'
import { chooseDrive, describeDrive, type DriveChoice, type ServedDrive } from './served-drive.js'
import { describeServed, servedJson, startedJson } from './summary.js'
import { FaultPlanError, parseFaultPlan } from '@gpunvme/nvme-spec/faults'
import { readText } from '../command-line/bounded-input.js'
import type { CommandStep } from '../command-line/next-step.js'

export interface ServeRequest extends DriveChoice {
  readonly socket: string
  /** Serves while this command runs, whose output is then that of this program. */
  readonly command?: readonly [string, ...string[]]
  readonly seed?: number
  readonly faults?: string
  readonly trace?: string
  readonly mappedDoorbells?: boolean
}

/**
 * Serves a simulated drive until `signal` is aborted, or while a command runs, and prints a summary.
 * @returns the exit code: that of the command.
 * @throws errors of `chooseDrive`, `claimImage`, `readFaultPlan`, `startVfioUserServer`, `attend` and
 * `attendDuring`
 */
export async function serve(request: ServeRequest, output: Output, signal: AbortSignal): Promise<number> {
  const { faults, image, trace } = request
  if (trace !== undefined) requireOwnFile(trace, [image, faults])
  const plan = faults === undefined ? undefined : await readFaultPlan(faults)
  const drive = await chooseDrive(request)
  const release = drive.image === undefined ? undefined : claimImage(drive.image, drive.isReadOnly ? 'read' : 'write')
  try {
    return await serveDrive(request, drive, plan, output, signal)
  } finally {
    release?.()
  }
}

async function serveDrive(
  request: ServeRequest,
  drive: ServedDrive,
  faults: FaultPlan | undefined,
  output: Output,
  signal: AbortSignal,
): Promise<number> {
  signal.throwIfAborted()
  const { command, trace } = request
  // The output of a command must not be mixed with ours.
  const say = (...lines: Lines[]) => (command === undefined ? output.print(...lines) : output.note(...lines))
  const startMs = performance.now()
  const server = await undoOnFailure(drive.unmake, () => startVfioUserServer(optionsOf(request, drive, faults)))
  const { socket } = server
  const attended = await closing(server, () => {
    output.note(`Serving ${drive.profile.name} at ${printable(socket)}: ${describeDrive(drive)}`)
    say(howToConnect(socket, output.invocation))
    output.record('gpunvme.sim-serve-start/1', startedJson(socket, drive))
    if (command === undefined) {
      output.note('Press Ctrl-C to stop (SIGINT).')
      return attend(server, output, signal, true)
    }
    output.note(`Serving while this command runs: ${printable(shellLine(command))}`)
    return attendDuring(server, command, output)
  })
  const wallNs = Math.round((performance.now() - startMs) * 1e6)
  const served = { socket, drive, trace, rules: faults?.rules.length, wallNs, ...attended }
  say(describeServed(served))
  output.record('gpunvme.sim-serve/1', servedJson(served))
  return attended.exitCode ?? EXIT.ok
}

/** Closes the server after `use`, and reports why it ended if it ended by itself. */
async function closing(server: VfioUserServer, use: () => Promise<Attended>): Promise<Attended> {
  // A second signal ends the process at once.
  const made = lstatSync(server.socket, { throwIfNoEntry: false })
  const atExit = () => {
    if (made !== undefined) removeSocket(server.socket, made)
  }
  process.on('exit', atExit)
  try {
    try {
      return await use()
    } finally {
      await server.close()
    }
  } catch (error) {
    throw error instanceof VfioUserServerError ? endOf(server.socket, error) : error
  } finally {
    process.off('exit', atExit)
  }
}

/** Returns the error of the server's thread: of one of its files, or an unexpected one. */
function endOf(socket: string, error: VfioUserServerError): Error {
  const { cause } = error
  const attempt = `continue serving ${printable(socket)}`
  if (isSystemError(cause)) return new FileError([attempt, cause.syscall, cause.path].filter(Boolean).join(', '), cause)
  return cause instanceof Error ? cause : error
}

function optionsOf(
  { socket, seed, trace, mappedDoorbells }: ServeRequest,
  { profile, namespace }: ServedDrive,
  faults: FaultPlan | undefined,
): VfioUserServerOptions {
  return {
    ...{ socket, module: nativeHostModule, profile, namespaces: [namespace] },
    ...(seed !== undefined && { seed }),
    ...(faults !== undefined && { faults }),
    ...(trace !== undefined && { trace: { path: trace, format: formatOf(trace) } }),
    ...(mappedDoorbells !== undefined && { mappedDoorbells }),
  }
}

/** By file extension: .json for Perfetto, .jsonl for JSON lines, otherwise text. */
export function formatOf(path: string): Format {
  if (path.endsWith('.jsonl')) return 'jsonl'
  return path.endsWith('.json') ? 'perfetto' : 'text'
}

function requireOwnFile(trace: string, others: readonly (string | undefined)[]): void {
  if (others.some((other) => other !== undefined && sameFile(other, trace)))
    throw new UsageError(`${printable(trace)} is in use and would be overwritten by the trace`, {
      next: 'use another --trace',
    })
}

const HELP: CommandStep = { command: ['help', 'sim'], note: 'which shows an example plan' }

/** Maximum length of a plan. A rule takes about 100 bytes. */
const MAX_BYTES = 16 * 1024 * 1024

/**
 * Reads a plan in the format of `formatFaultPlan`. @throws FileError, FaultPlanFileError; UsageError if it is too long.
 */
export async function readFaultPlan(path: string): Promise<FaultPlan> {
  const text = await readText('the fault plan', path, MAX_BYTES, HELP)
  try {
    return parseFaultPlan(text)
  } catch (error) {
    throw error instanceof FaultPlanError ? new FaultPlanFileError(path, error) : error
  }
}

/** Error of a file that is not a valid fault plan. */
export class FaultPlanFileError extends ToolsError {
  constructor(path: string, cause: FaultPlanError) {
    super('ERR_GPUNVME_FAULT_PLAN', 'usage', `${printable(path)}: ${cause.headline}`, {
      facts: cause.facts,
      next: cause.next === undefined ? HELP : [cause.next, HELP],
      cause,
    })
  }
}
