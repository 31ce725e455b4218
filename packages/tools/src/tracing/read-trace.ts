import { parseTraceLine, TraceLineError } from '@gpunvme/nvme-spec/trace'
import type { TraceEvent } from '@gpunvme/nvme-spec/transport'
import { createReadStream, type BigIntStats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { attempting } from '../command-line/file-error.js'
import { UsageError } from '../command-line/usage-error.js'
import { ToolsError } from '../command-line/tools-error.js'

/** No event of ours comes near it: what goes on for so long without a line break is no trace. */
const MOST_CHARACTERS = 65_536

/** A line of a trace. */
export interface TraceLine {
  /** From 1. */
  readonly number: number
  readonly event: TraceEvent
}

/** What a file is known by to be the same as before. */
export type TraceStamp = Pick<BigIntStats, 'dev' | 'ino' | 'size' | 'mtimeNs'>

/** Refuses what cannot be read twice. @throws FileError, UsageError */
export async function checkTraceFile(path: string): Promise<TraceStamp> {
  const stats = await attempting(`read ${path}`, () => stat(path, { bigint: true }))
  if (stats.isFile()) return stats
  throw new UsageError(`${path} is not a regular file`, {
    facts: ['a trace is read twice: all of it is checked before the first command'],
    next: { command: ['trace', '--format', 'jsonl', '-o', 'FILE'], note: 'which makes one' },
  })
}

/** Refuses to read it again once it is another one than was checked. @throws TraceChangedError; as `checkTraceFile` */
export async function requireUnchanged(path: string, before: TraceStamp): Promise<void> {
  const now = await checkTraceFile(path)
  const parts = ['dev', 'ino', 'size', 'mtimeNs'] as const
  if (parts.some((part) => now[part] !== before[part])) throw new TraceChangedError(path)
}

/**
 * The events of a JSONL trace, in its order and one at a time. A last line that was cut off, as a killed process leaves
 * it, counts as absent.
 * @throws TraceFileError naming the line; FileError; the signal's reason.
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
    throw new TraceFileError(path, error.headline, error)
  }
}

/** Lines without their line breaks; the last one may have had none. */
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
      if (rest.length > MOST_CHARACTERS) {
        throw new TraceFileError(path, `line ${number} has more than ${MOST_CHARACTERS} characters`)
      }
    }
    if (rest !== '') yield { text: rest, isWhole: false }
  } finally {
    stream.destroy()
  }
}

/** The file is no trace that can be replayed. No command was sent. */
export class TraceFileError extends ToolsError {
  readonly code = 'ERR_GPUNVME_TRACE_FILE'
  readonly category = 'infeasible'
  constructor(path: string, problem: string, cause?: unknown) {
    super(`${path} is no trace to replay: ${problem}`, {
      next: { command: ['trace', '--format', 'jsonl', '-o', 'FILE', 'VERB'], note: 'which makes one' },
      cause,
    })
  }
}

/** It is not the trace any more that was checked, and that the guards have gone by. */
export class TraceChangedError extends ToolsError {
  readonly code = 'ERR_GPUNVME_TRACE_CHANGED'
  readonly category = 'infeasible'
  constructor(path: string) {
    super(`${path} was changed since it was checked: the rest of it is not replayed`, {
      next: 'the same command again, once nothing writes to the file',
    })
  }
}
