import { describe, expect, it } from 'vitest'
import { encoded } from '../../test/encoded.js'
import { Read } from '../nvm/commands.js'
import { traceSqe } from './entries.js'
import type { TraceEvent } from '../transport/index.js'
import { formatTraceEvent, textTrace } from './text.js'

describe('the text writer', () => {
  it('writes one line per event, with aligned columns', () => {
    const written: string[] = []
    const sink = textTrace((text) => written.push(text))
    const events: TraceEvent[] = [
      { timeNs: 0, track: 'bar', name: 'write CC', details: { value: 'CC=0x00460001 { EN=1 }' } },
      {
        timeNs: 12_345_678,
        track: 'sq 1',
        name: 'fetch',
        command: traceSqe(1, encoded(Read, { CID: 18, NSID: 1 })),
      },
      { timeNs: 12_345_679, track: 'sq 1', name: 'ring tail', details: { value: 3, was: 2 } },
      { timeNs: 99_999_000_000, track: 'interrupt', name: 'vector 1' },
    ]
    for (const event of events) sink(event)
    expect(written).toEqual([
      '    0.000000 ms  bar        write CC      CC=0x00460001 { EN=1 }\n',
      '   12.345678 ms  sq 1       fetch         Read CID=0x0012 NSID=1 SLBA=0x0 NLB=0\n',
      '   12.345679 ms  sq 1       ring tail     value=3 was=2\n',
      '99999.000000 ms  interrupt  vector 1\n',
    ])
  })

  it.each([
    [{ timeNs: 1, durationNs: 80_007 }, '    0.000001 ms  t          n             took 80.007 µs'],
    [{ timeNs: 1, durationNs: 0, details: { a: 1 } }, '    0.000001 ms  t          n             took 0.000 µs  a=1'],
    // The largest time, and a negative one.
    [{ timeNs: 9_007_199_254_740_991 }, '9007199254.740991 ms  t          n'],
    [{ timeNs: -1_000_002 }, '   -1.000002 ms  t          n'],
    // Fractions of nanoseconds.
    [{ timeNs: 1.5, durationNs: 1.2 }, '    0.000002 ms  t          n             took 0.001 µs'],
    [
      { timeNs: 1, track: 'a longer track', name: 'and a longer name' },
      '    0.000001 ms  a longer track  and a longer name',
    ],
  ])('writes the times of %j in nanosecond resolution', (event, line) => {
    expect(formatTraceEvent({ track: 't', name: 'n', ...event })).toBe(line)
  })

  it.each([
    // value, text
    ['two words', 'where="two words"'],
    ['', 'where=""'],
    ['a "b" \\ c', 'where="a \\"b\\" \\\\ c"'],
    ['größer', 'where=größer'],
    ['SN="a\nb"', 'SN="a\\nb"'],
    ['\u0000\u001b[31m\u0085', 'where=\\u0000\\u001b[31m\\u0085'],
    ['\u2028\u202e\ufeff', 'where="\\u2028\\u202e\\ufeff"'],
    ['\ud83d\ude00 \ud83d', 'where="😀 \\ud83d"'],
  ])('keeps the detail %j on its line', (where, written) => {
    const line = formatTraceEvent({ timeNs: 0, track: 't', name: 'n', details: { where } })
    expect(line).toBe(`    0.000000 ms  t          n             ${written}`)
  })

  it('keeps names and keys on their line', () => {
    expect(formatTraceEvent({ timeNs: 0, track: 'sq\n1', name: 'a\tb', details: { 'k\r': 1 } })).toBe(
      '    0.000000 ms  sq\\n1      a\\tb          k\\r=1',
    )
  })

  it.each([
    [
      { timeNs: Number.NaN },
      "trace event's timeNs: expected nanoseconds from -9007199254740991 to 9007199254740991, got NaN",
    ],
    [
      { timeNs: 2 ** 53 },
      "trace event's timeNs: expected nanoseconds from -9007199254740991 to 9007199254740991, got 9007199254740992",
    ],
    [
      { timeNs: 0, durationNs: -1 },
      "trace event's durationNs: expected nanoseconds from 0 to 9007199254740991, got -1",
    ],
    [
      { timeNs: 0, durationNs: Infinity },
      "trace event's durationNs: expected nanoseconds from 0 to 9007199254740991, got Infinity",
    ],
    [
      { timeNs: 2 ** 52, durationNs: 2 ** 52 },
      "trace event's timeNs + durationNs: expected nanoseconds from -9007199254740991 to 9007199254740991, got 9007199254740992",
    ],
  ])('rejects invalid times %j', (times, message) => {
    expect(() => formatTraceEvent({ track: 't', name: 'n', ...times })).toThrow(new RangeError(message))
  })

  it('rejects a time that is not a number', () => {
    expect(() => formatTraceEvent({ timeNs: 5n as never, track: 't', name: 'n' })).toThrow(
      new TypeError("trace event's timeNs: expected nanoseconds from -9007199254740991 to 9007199254740991, got 5n"),
    )
  })
})
