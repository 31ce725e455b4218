import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyTraceEvent } from '../../test/arbitrary-trace.js'
import type { TraceEvent } from '../transport/index.js'
import { jsonlTrace, parseTraceLine, TraceLineError } from './jsonl.js'

function written(...events: TraceEvent[]): string {
  let all = ''
  const sink = jsonlTrace((text) => (all += text))
  for (const event of events) sink(event)
  return all
}

describe('the JSONL writer', () => {
  it('writes one object per line, its keys in a fixed order, details in the given order', () => {
    expect(
      written(
        { details: { b: 1, a: 'x' }, durationNs: 0, name: 'Read', track: 'sq 1', timeNs: 12_345_678 },
        { timeNs: 9_007_199_254_740_991, track: 'bar', name: 'read CSTS' },
        { timeNs: -0.5, track: '', name: '', details: {} },
      ),
    ).toBe(
      '{"timeNs":12345678,"track":"sq 1","name":"Read","durationNs":0,"details":{"b":1,"a":"x"}}\n' +
        '{"timeNs":9007199254740991,"track":"bar","name":"read CSTS"}\n' +
        '{"timeNs":-0.5,"track":"","name":"","details":{}}\n',
    )
  })

  it('escapes quotes, control characters, other line breaks and halves of surrogate pairs', () => {
    expect(written({ timeNs: 0, track: '"\\', name: '\n\u0000\u007f', details: { '\u2028': '😀\ud83d' } })).toBe(
      '{"timeNs":0,"track":"\\"\\\\","name":"\\n\\u0000\\u007f","details":{"\\u2028":"😀\\ud83d"}}\n',
    )
  })

  it('writes NaN and Infinity as strings', () => {
    expect(written({ timeNs: 0, track: 't', name: 'n', details: { untilNs: Infinity, rate: Number.NaN } })).toBe(
      '{"timeNs":0,"track":"t","name":"n","details":{"untilNs":"Infinity","rate":"NaN"}}\n',
    )
  })

  it.each([{ timeNs: Number.NaN }, { timeNs: 2 ** 53 }, { timeNs: 0, durationNs: -1 }])('rejects %j', (times) => {
    expect(() => written({ track: 't', name: 'n', ...times })).toThrow(RangeError)
  })

  it('writes lines that parseTraceLine reads back, for any text, without other line breaks', () => {
    fc.assert(
      fc.property(anyTraceEvent, (event) => {
        const line = written(event)
        expect(parseTraceLine(line)).toEqual(event)
        expect(line.split(/[\n\r\u0085\u2028\u2029]/)).toEqual([line.slice(0, -1), ''])
      }),
    )
  })
})

/** Returns a line with a completion with `changed` members. */
function entryLine(key: string, changed: object): string {
  const entry = { qid: 1, cid: 2, sct: 0, sc: 0, status: '', raw: '0'.repeat(32), text: '', ...changed }
  return JSON.stringify({ timeNs: 1, track: 't', name: 'n', [key]: entry })
}

describe('a line that is not an event is rejected with its number', () => {
  it.each([
    ['', 'not JSON'],
    ['{"timeNs":1,"track":"sq', 'not JSON'],
    ['[]', 'expected an object, got [object Array]'],
    ['null', 'expected an object, got [object Null]'],
    ['{"timeNs":1,"track":"t"}', '"name" is missing'],
    ['{"timeNs":"1","track":"t","name":"n"}', '"timeNs": expected nanoseconds below 2^53, got "1"'],
    [
      '{"timeNs":9007199254740992,"track":"t","name":"n"}',
      '"timeNs": expected nanoseconds below 2^53, got 9007199254740992',
    ],
    ['{"timeNs":1,"track":2,"name":"n"}', '"track": expected a string, got 2'],
    ['{"timeNs":1,"track":"t","name":null}', '"name": expected a string, got [object Null]'],
    [
      '{"timeNs":1,"track":"t","name":"n","durationNs":-1}',
      '"durationNs": expected nanoseconds from 0 to below 2^53, got -1',
    ],
    ['{"timeNs":1,"track":"t","name":"n","details":[1]}', '"details": expected an object, got [object Array]'],
    ['{"timeNs":1,"track":"t","name":"n","details":null}', '"details": expected an object, got [object Null]'],
    ['{"timeNs":1,"track":"t","name":"n","details":{"a":true}}', 'detail "a": expected a string or a number, got true'],
    ['{"timeNs":1,"track":"t","name":"n","command":1}', '"command": expected an object, got 1'],
    [
      '{"timeNs":1,"track":"t","name":"n","completion":{}}',
      '"completion": qid: expected a whole number from 0 to 65535, got undefined',
    ],
    [entryLine('completion', { sc: 256 }), '"completion": sc: expected a whole number from 0 to 255, got 256'],
    [entryLine('completion', { raw: '00' }), '"completion": raw: expected 32 hexadecimal digits, got "00"'],
    [entryLine('completion', { slba: 1 }), '"completion": unknown key "slba"'],
    ['{"timeNs":1,"track":"t","name":"n","dur":1}', 'unknown key "dur"'],
    ['{"timeNs":1,"track":"t","name":"n","__proto__":{}}', 'unknown key "__proto__"'],
  ])('%s', (line, problem) => {
    let thrown: unknown
    try {
      parseTraceLine(line, 17)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(TraceLineError)
    expect(thrown).toMatchObject({ code: 'ERR_GPUNVME_TRACE_LINE', category: 'failure', lineNumber: 17 })
    expect((thrown as Error).message.split('\n')[0]).toBe(`Trace line 17 cannot be read: ${problem}`)
  })

  it('rejects a value that is not a string with a TypeError', () => {
    expect(() => parseTraceLine(undefined as never)).toThrow(
      new TypeError('trace line: expected a string, got undefined'),
    )
  })

  it('has an error with the start of the line and the next step', () => {
    expect(() => parseTraceLine(`"${'x'.repeat(100)}`)).toThrow(
      expect.objectContaining({
        message:
          'Trace line 1 cannot be read: not JSON\n' +
          `  the line is "\\"${'x'.repeat(79)}…"\n` +
          '  Try: remove the line if the trace was truncated there; otherwise record the trace again',
      }) as Error,
    )
  })
})
