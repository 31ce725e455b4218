import type { TraceEvent } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import { recordedTrace } from '../../test/recorded-trace.js'
import { EVENT_KINDS, writeEvents, type Format } from './write-events.js'

async function written(format: Format, only?: readonly string[]): Promise<{ events: TraceEvent[]; text: string }> {
  const events = await recordedTrace(async ({ namespace }) => {
    await namespace.readBytes(0, 2_000_000)
  })
  let text = ''
  const writer = writeEvents(format, (part) => (text += part), { ...(only && { only }), title: 'gpunvme nvme read' })
  for (const event of events) writer.sink(event)
  writer.end()
  return { events, text }
}

interface Shown {
  readonly ph: string
  readonly name: string
  readonly tid: number
  readonly ts: number
  readonly dur: number
  readonly args: Readonly<Record<string, string | number>>
}

test('the Perfetto format has a span for each command, and all events', async () => {
  const { events, text } = await written('perfetto')
  const shown = JSON.parse(text) as Shown[]
  const completed = events.filter(({ name, details }) => name === 'complete' && details?.['afterNs'] !== undefined)
  const spans = shown.filter(({ ph }) => ph === 'X')
  expect(spans.length).toBe(completed.length)
  expect(shown.filter(({ ph }) => ph === 'i').length).toBe(events.length)
  // Two million bytes, in commands of at most 1 MiB.
  const reads = spans.filter(({ name }) => name === 'Read')
  expect(reads.map(({ args }) => args['nlb']).sort()).toEqual([1858, 2047])
  expect(new Set(reads.map(({ args }) => args['status']))).toEqual(new Set(['Successful Completion (SCT 0h SC 00h)']))
  const afterUs = completed.map(({ details }) => Number(details!['afterNs']) / 1000)
  expect(spans.map(({ dur }) => dur).sort((a, b) => a - b)).toEqual(afterUs.sort((a, b) => a - b))
  // A viewer shows overlapping spans of a row as nested, but commands are not nested.
  for (const tid of new Set(spans.map((span) => span.tid))) {
    const row = spans.filter((span) => span.tid === tid).sort((a, b) => a.ts - b.ts)
    const ns = (microseconds: number) => Math.round(microseconds * 1000)
    for (const [index, { ts, dur }] of row.slice(0, -1).entries())
      expect(ns(row[index + 1]!.ts)).toBeGreaterThanOrEqual(ns(ts) + ns(dur))
  }
  const threads = new Map(
    shown.filter(({ name }) => name === 'thread_name').map(({ tid, args }) => [tid, args['name']]),
  )
  expect(new Set(reads.map(({ tid }) => threads.get(tid)))).toEqual(new Set(['queue 1', 'queue 1 (2)']))
  expect(shown.find(({ name }) => name === 'process_name')?.args['name']).toBe('gpunvme nvme read')
})

test('the option only selects kinds of events, besides the open event of the drive', async () => {
  const all = await written('jsonl')
  let sum = 0
  for (const kind of EVENT_KINDS) {
    const { text } = await written('jsonl', [kind])
    const lines = text.trimEnd().split('\n')
    expect(JSON.parse(lines[0]!)).toMatchObject({ track: 'trace', name: 'open' })
    sum += lines.length - 1
  }
  expect(sum).toBe(all.events.length - 1)
  const { text } = await written('text', ['commands'])
  const words = text
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/ +/)[4])
  expect(new Set(words)).toEqual(new Set(['submit', 'complete']))
})
