import type { TraceEvent } from '@gpunvme/nvme-spec/transport'
import { afterEach, expect, test, vi } from 'vitest'
import { traceToStderr } from './trace-output.js'
import { writeEvents } from './write-events.js'

const terminal = { isTTY: process.stderr.isTTY, columns: process.stderr.columns, TERM: process.env['TERM'] }
afterEach(() => {
  vi.restoreAllMocks()
  Object.assign(process.stderr, { isTTY: terminal.isTTY, columns: terminal.columns })
  process.env['TERM'] = terminal.TERM
})

const EVENTS: readonly TraceEvent[] = [
  { timeNs: 5, track: 'bar', name: 'read VS', details: { value: 'VS=0x00010400 { TER=0 MNR=4 MJR=1 }' } },
  {
    ...{ timeNs: 20_022_147, track: 'cq 0', name: 'complete' },
    details: { entry: 'CID=0x0000 SQID=0 SQHD=1 P=1 Successful Completion (SCT 0h SC 00h)' },
  },
]

function shown(): string {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const { sink, end } = traceToStderr((output) => writeEvents('text', output, { title: '' }))
  for (const event of EVENTS) sink(event)
  end()
  return written.mock.calls.map(([text]) => String(text)).join('')
}

test('on a terminal, lines are folded where it ends, and take the place of a bar that was drawn', () => {
  Object.assign(process.stderr, { isTTY: true, columns: 80 })
  process.env['TERM'] = 'xterm'
  expect(shown()).toBe(
    '\r\u001b[K    0.000005 ms  bar        read VS       VS=0x00010400 { TER=0 MNR=4 MJR=1 }\n' +
      '\r\u001b[K   20.022147 ms  cq 0       complete      CID=0x0000 SQID=0 SQHD=1 P=1\n' +
      '        Successful Completion (SCT 0h SC 00h)\n',
  )
})

test('elsewhere, each event is one line', () => {
  Object.assign(process.stderr, { isTTY: false })
  expect(
    shown()
      .split('\n')
      .map((line) => line.slice(0, 16)),
  ).toEqual(['    0.000005 ms ', '   20.022147 ms ', ''])
})
