import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyTraceEvent } from '../../test/arbitrary-trace.js'
import { readTraceEvents } from '../../test/trace-event-format.js'
import type { TraceEvent } from '../transport/index.js'
import { perfettoTrace } from './perfetto.js'

function written(events: readonly TraceEvent[], options?: { process?: string }): string[] {
  const parts: string[] = []
  const sink = perfettoTrace((text) => parts.push(text), options)
  for (const event of events) sink(event)
  sink.end()
  return parts
}

const read = (timeNs: number, durationNs: number, track = 'sq 1') => ({ timeNs, track, name: 'Read', durationNs })

/** Returns the name of each row, and start and length of its events. */
function rows(events: readonly TraceEvent[]): unknown[] {
  return readTraceEvents(written(events).join('')).rows.map((row) => [
    row.name,
    ...row.events.map(({ startNs, durationNs }) => [startNs, durationNs]),
  ])
}

describe('the Perfetto writer', () => {
  it('writes the array form of the Trace Event Format: tracks as threads, spans as X, all else as i, times in µs', () => {
    const events: TraceEvent[] = [
      { timeNs: 5, track: 'bar', name: 'write CC', details: { value: 'EN=1', was: 0 } },
      { timeNs: 12_345_678, track: 'sq 1', name: 'Read', durationNs: 80_007 },
      { timeNs: 12_400_000, track: 'bar', name: 'read CSTS' },
    ]
    expect(written(events).join('')).toBe(`[
{"name":"process_name","ph":"M","pid":1,"tid":0,"args":{"name":"NVMe"}},
{"name":"thread_name","ph":"M","pid":1,"tid":1,"args":{"name":"bar"}},
{"name":"thread_sort_index","ph":"M","pid":1,"tid":1,"args":{"sort_index":1}},
{"name":"write CC","cat":"nvme","ph":"i","s":"t","ts":0.005,"pid":1,"tid":1,"args":{"value":"EN=1","was":0}},
{"name":"thread_name","ph":"M","pid":1,"tid":2,"args":{"name":"sq 1"}},
{"name":"thread_sort_index","ph":"M","pid":1,"tid":2,"args":{"sort_index":1001}},
{"name":"Read","cat":"nvme","ph":"X","dur":80.007,"ts":12345.678,"pid":1,"tid":2},
{"name":"read CSTS","cat":"nvme","ph":"i","s":"t","ts":12400.000,"pid":1,"tid":1}
]
`)
  })

  it('writes a valid trace without events, with the given process name', () => {
    expect(written([], { process: 'run "7"\n' }).join('')).toBe(
      '[\n{"name":"process_name","ph":"M","pid":1,"tid":0,"args":{"name":"run \\"7\\"\\n"}}\n]\n',
    )
  })

  it('writes parts that end between events, so that a truncated trace is valid up to the optional bracket', () => {
    const parts = written([read(0, 5), { timeNs: 1, track: 'bar', name: 'read CSTS' }, read(1, 5)]).slice(0, -1)
    for (let length = 1; length <= parts.length; length++)
      expect(JSON.parse(`${parts.slice(0, length).join('')}]`)).toHaveLength(length)
  })

  it('writes overlapping events to separate rows below that of their track, and reuses these rows', () => {
    const events = [read(0, 10), read(5, 10), read(6, 1), read(10, 5), read(100, 1), read(3, 1, 'sq 2')]
    expect(rows([read(0, 1, 'sq 0'), ...events])).toEqual([
      ['sq 0', [0, 1]],
      ['sq 1', [0, 10], [10, 5], [100, 1]],
      ['sq 1 (2)', [5, 10]],
      ['sq 1 (3)', [6, 1]],
      ['sq 2', [3, 1]],
    ])
  })

  it('separates overlapping events that arrive in order of their ends', () => {
    expect(rows([read(5, 5), read(0, 12), read(11, 2)])).toEqual([
      ['sq 1', [5, 5], [11, 2]],
      ['sq 1 (2)', [0, 12]],
    ])
  })

  it('writes adjacent events to one row if times have fractions of nanoseconds', () => {
    expect(rows([read(0.4, 1.2), read(1.6, 1.2)])).toEqual([['sq 1', [0, 2], [2, 1]]])
  })

  it.each([
    [0, '0.000'],
    [1, '0.001'],
    [1001, '1.001'],
    [-1, '-0.001'],
    [4_398_046_511_103_999, '4398046511103.999'],
    [9_007_199_254_740_991, '9007199254740.991'],
  ])('writes %d ns with every digit: %s µs', (timeNs, ts) => {
    expect(written([{ timeNs, track: 't', name: 'n' }]).at(-2)).toContain(`"ts":${ts},`)
  })

  it('keeps every name, entry, detail and nanosecond, for any order and text', () => {
    // Below 2^42 µs, a double times 1000, rounded, is the exact nanosecond.
    const event = anyTraceEvent.filter(({ timeNs }) => timeNs < 1000 * 2 ** 42)
    fc.assert(
      fc.property(fc.array(event), (events) => {
        const { rows } = readTraceEvents(written(events).join(''))
        const byTrack = (name: string) => name.replace(/ \(\d+\)$/, '')
        const found = rows.flatMap((row) => row.events.map((read) => JSON.stringify([byTrack(row.name), read])))
        const expected = events.map(({ timeNs, track, name, durationNs, command, completion, details }) =>
          JSON.stringify([
            byTrack(track),
            { name, startNs: timeNs, durationNs, args: { ...command, ...completion, ...details } },
          ]),
        )
        expect(found.sort()).toEqual(expected.sort())
      }),
    )
  })

  it('rejects an invalid time before it writes anything of the event', () => {
    const parts: string[] = []
    const sink = perfettoTrace((text) => parts.push(text))
    expect(() => sink({ timeNs: Number.NaN, track: 't', name: 'n' })).toThrow(RangeError)
    expect(() => sink({ timeNs: 0, track: 't', name: 'n', durationNs: -1 })).toThrow(RangeError)
    expect(parts).toHaveLength(1)
  })

  it('rejects events after end(), which may be called twice', () => {
    const parts: string[] = []
    const sink = perfettoTrace((text) => parts.push(text))
    sink.end()
    sink.end()
    expect(() => sink(read(0, 1))).toThrow(new TypeError('Perfetto trace: event after end()'))
    expect(JSON.parse(parts.join(''))).toHaveLength(1)
  })
})

describe('the reader used by these tests', () => {
  const thread =
    '{"name":"thread_name","ph":"M","pid":1,"tid":1,"args":{"name":"a"}},' +
    '{"name":"thread_sort_index","ph":"M","pid":1,"tid":1,"args":{"sort_index":1}}'
  const span = (ts: number, dur: number) => `{"name":"x","cat":"c","ph":"X","ts":${ts},"dur":${dur},"pid":1,"tid":1}`

  it.each([
    [`[${thread},${span(0, 10)},${span(5, 10)}]`, 'events of a overlap'],
    [`[${span(0, 10)}]`, 'thread 1 has no name'],
    [`[${thread},${span(0, -1)}]`, 'dur'],
    [`[${thread},{"name":"x","cat":"c","ph":"i","ts":0,"pid":1,"tid":1}]`, 'phase or scope'],
    [`[${thread},{"name":"x","cat":"c","ph":"X","ts":"0","dur":1,"pid":1,"tid":1}]`, 'ts'],
    ['{"traceEvents":[]}', 'not the array form'],
  ])('rejects %s', (text, why) => {
    expect(() => readTraceEvents(text)).toThrow(why)
  })

  it('accepts nested events', () => {
    expect(readTraceEvents(`[${thread},${span(0, 10)},${span(0, 5)},${span(5, 5)}]`).rows[0]?.events).toHaveLength(3)
  })
})
