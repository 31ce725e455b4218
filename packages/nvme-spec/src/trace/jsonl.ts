import { GpuNvmeError } from '../error.js'
import { shown } from '../layout/facts.js'
import { checkTime, isTime, jsonDetails, quoted } from './format.js'
import type { TraceEvent, TraceSink } from '../transport/index.js'

/**
 * Returns a sink that writes each event as one line of JSON (JSONL), with keys in a fixed order: timeNs, track, name,
 * durationNs, details. `parseTraceLine` reads a line back to an equal event, except that NaN and infinite details,
 * which JSON cannot represent, become strings. The sink throws RangeError or TypeError for a time that is not a number
 * below 2^53, or a duration below 0.
 * @param output receives a whole line per call, with its line break.
 */
export function jsonlTrace(output: (text: string) => void): TraceSink {
  return ({ timeNs, track, name, durationNs, details }) => {
    checkTime('timeNs', timeNs)
    let line = `{"timeNs":${timeNs},"track":${quoted(track)},"name":${quoted(name)}`
    if (durationNs !== undefined) {
      checkTime('durationNs', durationNs, 0)
      line += `,"durationNs":${durationNs}`
    }
    if (details !== undefined) line += `,"details":${jsonDetails(details)}`
    output(`${line}}\n`)
  }
}

/**
 * Parses one line written by `jsonlTrace`, with or without its line break.
 * @param lineNumber line number in the file, from 1, for the error.
 * @throws TraceLineError for an invalid line: truncated, or with an unknown key or an invalid value.
 */
export function parseTraceLine(line: string, lineNumber = 1): TraceEvent {
  const refuse = (problem: string, cause?: unknown): never => {
    throw new TraceLineError(problem, line, lineNumber, cause)
  }
  let parsed: unknown
  try {
    parsed = JSON.parse(line)
  } catch (cause) {
    return refuse('not JSON', cause)
  }
  if (!isRecord(parsed)) return refuse(`expected an object, got ${shown(parsed)}`)
  for (const key of ['timeNs', 'track', 'name']) if (!Object.hasOwn(parsed, key)) refuse(`"${key}" is missing`)
  for (const [key, value] of Object.entries(parsed)) {
    const rule = rules.get(key)
    if (rule === undefined) refuse(`unknown key ${quoted(key)}`)
    else if (!rule.allows(value)) refuse(`"${key}": expected ${rule.expected}, got ${shown(value)}`)
  }
  for (const [key, value] of Object.entries(parsed['details'] ?? {}))
    if (typeof value !== 'string' && typeof value !== 'number')
      refuse(`detail ${quoted(key)}: expected a string or a number, got ${shown(value)}`)
  return parsed as unknown as TraceEvent
}

const isText = { expected: 'a string', allows: (value: unknown) => typeof value === 'string' }

/** Allowed values of each key. */
const rules = new Map<string, { expected: string; allows: (value: unknown) => boolean }>([
  ['timeNs', { expected: 'nanoseconds below 2^53', allows: (value) => isTime(value) }],
  ['track', isText],
  ['name', isText],
  ['durationNs', { expected: 'nanoseconds from 0 to below 2^53', allows: (value) => isTime(value, 0) }],
  ['details', { expected: 'an object', allows: isRecord }],
])

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A trace line that cannot be parsed. */
export class TraceLineError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_TRACE_LINE'
  readonly category = 'failure'
  /** Line number in the file, from 1. */
  readonly lineNumber: number

  constructor(problem: string, line: string, lineNumber: number, cause?: unknown) {
    const start = line.length > 80 ? `${line.slice(0, 80)}…` : line
    super(`Trace line ${lineNumber} cannot be read: ${problem}`, {
      facts: [`the line is ${quoted(start)}`],
      next: 'remove the line if the trace was truncated there; otherwise record the trace again',
      cause,
    })
    this.lineNumber = lineNumber
  }
}
