import { expect, test } from 'vitest'
import { oneCell, sweep } from '../../test/bench-results.js'
import { BenchResultsError, readResults } from './read-results.js'

const read = (value: unknown) => readResults(JSON.stringify(value), 'results.json')

function refusal(json: string): BenchResultsError {
  try {
    readResults(json, 'results.json')
  } catch (error) {
    if (error instanceof BenchResultsError) return error
    throw error
  }
  throw new Error('it was read')
}

const problem = (value: unknown) =>
  /^Cannot read results\.json as results of gpunvme bench: (.*)\n/.exec(refusal(JSON.stringify(value)).message)?.[1]

/** The results of one cell, with the value at a path of keys replaced. */
function withValue(path: string, value: unknown): unknown {
  const keys = path.split('.')
  const results = structuredClone(oneCell()) as unknown
  let parent = results as Record<string, unknown>
  for (const key of keys.slice(0, -1)) parent = parent[key] as Record<string, unknown>
  parent[keys.at(-1)!] = value
  return results
}

test('readResults returns minimal and complete results of bench', () => {
  for (const results of [oneCell(), sweep()]) expect(read(results)).toEqual(results)
})

test('readResults ignores unknown fields', () => {
  expect(read({ ...oneCell(), mood: 'good' })).toEqual(oneCell())
})

test.each([
  ['schema', 'bench', `schema: expected 'gpunvme.bench/1', got "bench"`],
  ['schema', undefined, `schema: expected 'gpunvme.bench/1', got undefined`],
  ['schema', 'gpunvme.load/1', 'it is the output of gpunvme load'],
  ['schema', 'gpunvme.error/1', 'it is the error of a failed command'],
  ['schema', 'gpunvme.bench/2', 'it has version 2 of the format; this gpunvme reads version 1'],
  ['time', 'real', `time: expected 'modelled' or 'wall', got "real"`],
  ['startedAt', 'yesterday', `startedAt: expected a time such as '2026-11-22T18:00:00Z', got "yesterday"`],
  ['machine', [], 'machine: expected an object, got an array'],
  ['machine.cpus', 1.5, 'machine.cpus: expected an integer from 1 to 9007199254740991, got 1.5'],
  ['drive.model', 'x'.repeat(301), /^drive\.model: expected a string of at most 300 characters, got "x{59}…$/],
  ['drive.serialEnd', 'ABCDE', 'drive.serialEnd: expected a string of at most 4 characters, got "ABCDE"'],
  ['link', null, 'link: expected an object, got null'],
  ['cells', {}, 'cells: expected an array, got an object'],
  ['cells', Array.from({ length: 4097 }, () => 0), 'cells: expected at most 4096 entries, got "4097"'],
  ['cells.0.source', 'magic', 'cells[0].source: expected one of sources, got "magic"'],
  ['cells.0.depth', 0, 'cells[0].depth: expected a number from 1 to 9007199254740991, got 0'],
  ['cells.0.repeats.0.seconds', 0, /^cells\[0\]\.repeats\[0\]\.seconds: expected a number from 1e-9/],
  ['cells.0.repeats.0.bytes', -1, /^cells\[0\]\.repeats\[0\]\.bytes: expected a number from 0/],
  ['cells.0.repeats.0.bytes', '4096', /^cells\[0\]\.repeats\[0\]\.bytes: expected an integer/],
  ['cells.0.repeats.0.counters.after.dataUnitsRead', 7, /dataUnitsRead: expected a decimal number as text, got 7$/],
  ['cells.0.repeats.0.latency.minNs', 1e12, /latency\.maxNs: expected at least minNs/],
  [
    'cells.0.repeats.0.latency.buckets',
    [
      [20, 1],
      [10, 1],
    ],
    /buckets\[1\]\[0\]: expected more than the previous edge, got 10$/,
  ],
  ['cells.0.repeats.0.latency.buckets', [[20]], /buckets\[0\]: expected a pair, got an array$/],
  ['cells.0.problem', { kind: 'odd', reason: '' }, `cells[0].problem.kind: expected 'refused' or 'failed', got "odd"`],
  ['timeline', { cell: 1, commands: [] }, 'timeline.cell: expected one of 1 cells, got 1'],
  [
    'timeline',
    { cell: 0, commands: [{ queue: 1, startNs: 2, endNs: 1, bytes: 1 }] },
    'timeline.commands[0].endNs: expected at least startNs, got 1',
  ],
])('readResults rejects %s of %j', (path, value, expected) => {
  expect(problem(withValue(path, value))).toMatch(expected)
})

test('readResults rejects repeated sources and cells', () => {
  const { sources, cells } = oneCell()
  expect(problem({ ...oneCell(), sources: [...sources, ...sources] })).toMatch(/^sources\[1\]\.name: expected a unique/)
  expect(problem({ ...oneCell(), cells: [...cells, ...cells] })).toMatch(/^cells\[1\]: expected a unique setting/)
})

test('readResults rejects invalid JSON and other values, and suggests the command that writes results', () => {
  for (const [json, words] of [
    ['', 'the file is empty'],
    ['\0\0\0\0', 'invalid JSON: '],
    ['{"schema":', 'invalid JSON: '],
    ['[]', 'the file: expected an object, got an array'],
    ['"gpunvme.bench/1"', 'the file: expected an object'],
    ['1e999', 'the file: expected an object'],
  ] as const) {
    const error = refusal(json)
    expect(error.message).toContain(words)
    expect(error.message).toContain('Try: gpunvme bench -o results.json')
    expect(error.category).toBe('infeasible')
  }
})

test('readResults rejects a newer schema, and suggests a newer gpunvme', () => {
  expect(refusal('{"schema":"gpunvme.bench/2"}').message).toContain('Try: use the gpunvme that wrote the file')
})

test('readResults ignores __proto__', () => {
  const hostile = JSON.stringify(oneCell()).replace('"machine":', '"__proto__":{"time":"wall"},"machine":')
  expect(readResults(hostile, 'results.json')).toEqual(oneCell())
})
