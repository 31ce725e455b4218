import { CommandPairs } from '@gpunvme/nvme-spec/trace'
import type { TraceEvent } from '@gpunvme/nvme-spec/transport'
import { readTrace, traceFileError } from './read-trace.js'
import { replayable } from './replayable.js'

/** Properties of a trace that a replay needs in advance. */
export interface TraceScan {
  /** Commands of the replayed drive. */
  readonly commands: number
  readonly writes: number
  /** Namespace of its first replayable command; 0 if there is none. */
  readonly nsid: number
  /** Number of blocks that it reads and writes there. */
  readonly blocks: number
  /** First written block, and the one after the last. */
  readonly writtenFrom: number
  readonly writtenTo: number
  /** Kind of its clock; undefined if the trace does not record it. */
  readonly time: string | undefined
}

/**
 * Reads a whole trace before a drive is opened for it.
 * @param drive drive of the trace: '', '2: '.
 * @throws ToolsError (TRACE_FILE), FileError, the signal's reason.
 */
export async function scanTrace(path: string, drive: string, signal: AbortSignal): Promise<TraceScan> {
  const pairs = new CommandPairs()
  let [lines, commands, writes, nsid, blocks, writtenFrom, writtenTo] = [0, 0, 0, 0, 0, Infinity, 0]
  let time: string | undefined
  let isOld = false
  const drives = new Set<string>()
  for await (const { event } of readTrace(path, signal)) {
    lines++
    if (event.track === `${drive}trace` && event.name === 'open') time = textOf(event.details?.['time'])
    isOld ||= isOldSubmission(event)
    const found = pairs.add(event)
    if (found?.kind !== 'submitted') continue
    drives.add(found.drive)
    if (found.drive !== drive) continue
    commands++
    const command = replayable(found.command)
    if (command === undefined) continue
    if (nsid === 0) nsid = command.nsid
    if (command.nsid !== nsid) continue
    blocks += command.blocks
    if (command.name !== 'Write') continue
    writes++
    writtenFrom = Math.min(writtenFrom, command.slba)
    writtenTo = Math.max(writtenTo, command.slba + command.blocks)
  }
  if (lines === 0) throw traceFileError(path, 'it has no events')
  if (isOld)
    throw traceFileError(path, 'it was recorded by an older version, which kept commands as text; record it again')
  if (drives.size === 0) throw traceFileError(path, 'it has no submitted commands')
  if (commands === 0) throw traceFileError(path, `--opened ${opened(drive)}: it has commands of ${named(drives)}`)
  return { commands, writes, nsid, blocks, writtenFrom, writtenTo, time }
}

/** Returns whether an event has its command only as text, as in traces older than the member `command`. */
function isOldSubmission({ name, command, details }: TraceEvent): boolean {
  return name === 'submit' && command === undefined && /\b[A-Z]+\d?=/.test(String(details?.['entry'] ?? ''))
}

/** Number of a drive, as in the prefix of its tracks. */
function opened(drive: string): string {
  return drive === '' ? '1' : drive.slice(0, -2)
}

function named(drives: ReadonlySet<string>): string {
  return drives.size === 1
    ? `drive ${opened([...drives][0]!)} alone`
    : `the drives ${[...drives].map(opened).join(', ')}`
}

function textOf(value: string | number | undefined): string | undefined {
  return value === 'modelled' || value === 'wall' ? value : undefined
}
