import { parseTraceLine, TraceLineError } from '@gpunvme/nvme-spec/trace'
import type { TraceEvent } from '@gpunvme/nvme-spec/transport'
import { createReadStream, type BigIntStats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { attempting } from '../command-line/file-error.js'
import { UsageError, ToolsError } from '../command-line/tools-error.js'

/** Maximum length of a line; our events are far shorter. */
const MAX_CHARACTERS = 65_536

/** A line of a trace. */
export interface TraceLine {
  /** From 1. */
  readonly number: number
  readonly event: TraceEvent
}

/** Identifies the file's content. */
export type TraceStamp = Pick<BigIntStats, 'dev' | 'ino' | 'size' | 'mtimeNs'>

/** Rejects files that cannot be read twice. @throws FileError, UsageError */
export async function checkTraceFile(path: string): Promise<TraceStamp> {
  const stats = await attempting(`read ${path}`, () => stat(path, { bigint: true }))
  if (stats.isFile()) return stats
  throw new UsageError(`${path} is not a regular file`, {
    facts: ['a trace is read twice: all of it is checked before the first command'],
    next: { command: ['nvme', 'trace', '--format', 'jsonl', '-o', 'FILE'], note: 'which creates one' },
  })
}

/** Checks that the file is still the checked one. @throws ToolsError (TRACE_CHANGED); errors of `checkTraceFile` */
export async function requireUnchanged(path: string, before: TraceStamp): Promise<void> {
  const now = await checkTraceFile(path)
  const parts = ['dev', 'ino', 'size', 'mtimeNs'] as const
  if (parts.some((part) => now[part] !== before[part])) throw traceChangedError(path)
}

/**
 * Yields the events of a JSONL trace in order. An incomplete last line, as left by a killed process, is ignored.
 * @throws ToolsError (TRACE_FILE) that names the line; FileError; the signal's reason.
 */
export async function* readTrace(path: string, signal: AbortSignal): AsyncGenerator<TraceLine, void, undefined> {
  let number = 0
  for await (const { text, isWhole } of linesOf(path, signal)) {
    number++
    const event = parse(path, text, number, isWhole)
    if (event !== undefined) yield { number, event }
  }
}

function parse(path: string, text: string, number: number, isWhole: boolean): TraceEvent | undefined {
  try {
    return parseTraceLine(text, number)
  } catch (error) {
    if (!(error instanceof TraceLineError)) throw error
    if (!isWhole) return undefined
    throw traceFileError(path, error.headline, error)
  }
}

/** Yields lines without line breaks; the last one may have none. */
async function* linesOf(path: string, signal: AbortSignal): AsyncGenerator<{ text: string; isWhole: boolean }> {
  const stream = createReadStream(path, { encoding: 'utf8' })
  let rest = ''
  let number = 1
  try {
    for await (const chunk of stream as AsyncIterable<string>) {
      signal.throwIfAborted()
      const lines = `${rest}${chunk}`.split('\n')
      rest = lines.pop()!
      for (const text of lines) yield { text, isWhole: true }
      number += lines.length
      if (rest.length > MAX_CHARACTERS) {
        throw traceFileError(path, `line ${number} has more than ${MAX_CHARACTERS} characters`)
      }
    }
    if (rest !== '') yield { text: rest, isWhole: false }
  } finally {
    stream.destroy()
  }
}

/** Error of a file that is not a replayable trace. No command was sent. */
export function traceFileError(path: string, problem: string, cause?: unknown): ToolsError {
  return new ToolsError('ERR_GPUNVME_TRACE_FILE', 'infeasible', `Cannot replay ${path}: ${problem}`, {
    next: { command: ['nvme', 'trace', '--format', 'jsonl', '-o', 'FILE', 'VERB'], note: 'which creates a trace' },
    cause,
  })
}

/** Error of a trace that has changed since the guards checked it. */
export function traceChangedError(path: string): ToolsError {
  return new ToolsError(
    'ERR_GPUNVME_TRACE_CHANGED',
    'infeasible',
    `${path} has changed since it was checked: the rest is not replayed`,
    {
      next: 'repeat the command when nothing writes to the file',
    },
  )
}
