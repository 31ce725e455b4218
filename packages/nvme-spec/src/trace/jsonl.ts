import { GpuNvmeError } from '../error.js'
import { rejectArgument, describeValue } from '../layout/facts.js'
import { checkTime, isTime, jsonFacts, quoted } from './format.js'
import type { TraceCommand, TraceCompletion, TraceEvent, TraceSink } from '../transport/index.js'

/**
 * Returns a sink that writes each event as one line of JSON (JSONL), with keys in a fixed order: timeNs, track, name,
 * durationNs, command, completion, details. `parseTraceLine` reads a line back to an equal event, except that NaN and
 * infinite details, which JSON cannot represent, become strings. The sink throws RangeError or TypeError for a time
 * that is not a number below 2^53, or a duration below 0.
 * @param output receives a whole line per call, with its line break.
 */
export function jsonlTrace(output: (text: string) => void): TraceSink {
  return ({ timeNs, track, name, durationNs, command, completion, details }) => {
    checkTime('timeNs', timeNs)
    let line = `{"timeNs":${timeNs},"track":${quoted(track)},"name":${quoted(name)}`
    if (durationNs !== undefined) {
      checkTime('durationNs', durationNs, 0)
      line += `,"durationNs":${durationNs}`
    }
    if (command !== undefined) line += `,"command":${jsonFacts(command)}`
    if (completion !== undefined) line += `,"completion":${jsonFacts(completion)}`
    if (details !== undefined) line += `,"details":${jsonFacts(details)}`
    output(`${line}}\n`)
  }
}

/**
 * Parses one line written by `jsonlTrace`, with or without its line break.
 * @param lineNumber line number in the file, from 1, for the error.
 * @throws TraceLineError for an invalid line: truncated, or with an unknown key or an invalid value; TypeError if
 *   `line` is not a string.
 */
export function parseTraceLine(line: string, lineNumber = 1): TraceEvent {
  if (typeof line !== 'string') rejectArgument('trace line', 'a string', line)
  const refuse = (problem: string, cause?: unknown): never => {
    throw new TraceLineError(problem, line, lineNumber, cause)
  }
  let parsed: unknown
  try {
    parsed = JSON.parse(line)
  } catch (cause) {
    return refuse('not JSON', cause)
  }
  if (!isRecord(parsed)) return refuse(`expected an object, got ${describeValue(parsed)}`)
  for (const key of ['timeNs', 'track', 'name']) if (!Object.hasOwn(parsed, key)) refuse(`"${key}" is missing`)
  for (const [key, value] of Object.entries(parsed)) {
    const rule = rules.get(key)
    if (rule === undefined) refuse(`unknown key ${quoted(key)}`)
    else if (!rule.allows(value)) refuse(`"${key}": expected ${rule.expected}, got ${describeValue(value)}`)
  }
  for (const [key, fields] of Object.entries(entryFields)) {
    const entry = parsed[key] as Readonly<Record<string, unknown>> | undefined
    if (entry === undefined) continue
    for (const [name, { isOptional, expected, allows }] of Object.entries(fields)) {
      const value = entry[name]
      if (!(value === undefined ? isOptional : allows(value)))
        refuse(`"${key}": ${name}: expected ${expected}, got ${describeValue(value)}`)
    }
    const unknown = Object.keys(entry).find((name) => !Object.hasOwn(fields, name))
    if (unknown !== undefined) refuse(`"${key}": unknown key ${quoted(unknown)}`)
  }
  for (const [key, value] of Object.entries(parsed['details'] ?? {}))
    if (typeof value !== 'string' && typeof value !== 'number')
      refuse(`detail ${quoted(key)}: expected a string or a number, got ${describeValue(value)}`)
  return parsed as unknown as TraceEvent
}

const isText = { expected: 'a string', allows: (value: unknown) => typeof value === 'string' }

/** Allowed values of each key. */
const rules = new Map<string, { expected: string; allows: (value: unknown) => boolean }>([
  ['timeNs', { expected: 'nanoseconds below 2^53', allows: (value) => isTime(value) }],
  ['track', isText],
  ['name', isText],
  ['durationNs', { expected: 'nanoseconds from 0 to below 2^53', allows: (value) => isTime(value, 0) }],
  ['command', { expected: 'an object', allows: isRecord }],
  ['completion', { expected: 'an object', allows: isRecord }],
  ['details', { expected: 'an object', allows: isRecord }],
])

interface FieldRule {
  readonly expected: string
  readonly allows: (value: unknown) => boolean
  readonly isOptional?: boolean
}

const text: FieldRule = { expected: 'a string', allows: (value) => typeof value === 'string' }
const address: FieldRule = { ...pattern('a hexadecimal number', /^0x[\da-f]{1,16}$/), isOptional: true }

/** Fields of queue entries. */
const entryFields: { readonly command: FieldsOf<TraceCommand>; readonly completion: FieldsOf<TraceCompletion> } = {
  command: {
    qid: upTo(0xffff),
    cid: upTo(0xffff),
    opcode: upTo(0xff),
    name: text,
    nsid: upTo(0xffff_ffff),
    slba: {
      expected: 'a whole number, or its digits',
      allows: (value) =>
        upTo(Number.MAX_SAFE_INTEGER).allows(value) || (typeof value === 'string' && /^\d{1,20}$/.test(value)),
      isOptional: true,
    },
    nlb: { ...upTo(0xffff_ffff), isOptional: true },
    prp1: address,
    prp2: address,
    raw: pattern('128 hexadecimal digits', /^[\da-f]{128}$/),
    text,
  },
  completion: {
    qid: upTo(0xffff),
    cid: upTo(0xffff),
    sct: upTo(7),
    sc: upTo(0xff),
    status: text,
    raw: pattern('32 hexadecimal digits', /^[\da-f]{32}$/),
    text,
  },
}

type FieldsOf<Entry> = { readonly [Name in keyof Required<Entry>]: FieldRule }

function upTo(max: number): FieldRule {
  return {
    expected: `a whole number from 0 to ${max}`,
    allows: (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max,
  }
}

function pattern(expected: string, digits: RegExp): FieldRule {
  return { expected, allows: (value) => typeof value === 'string' && digits.test(value) }
}

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
