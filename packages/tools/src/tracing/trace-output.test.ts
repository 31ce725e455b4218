import { CQE } from '@gpunvme/nvme-spec'
import { traceCqe } from '@gpunvme/nvme-spec/trace'
import type { TraceEvent } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import { testIo, type TestIo } from '../../test/gpunvme.js'
import { Output } from '../terminal/output.js'
import { traceToStderr } from './trace-output.js'
import { writeEvents } from './write-events.js'

const EVENTS: readonly TraceEvent[] = [
  { timeNs: 5, track: 'bar', name: 'read VS', details: { value: 'VS=0x00010400 { TER=0 MNR=4 MJR=1 }' } },
  {
    ...{ timeNs: 20_022_147, track: 'cq 0', name: 'complete' },
    completion: traceCqe(CQE.create({ SQHD: 1, STATUS: { P: 1 } }).data),
  },
]

function shown(io: TestIo): string {
  const { sink, end } = traceToStderr((output) => writeEvents('text', output, { title: '' }), new Output({}, io))
  for (const event of EVENTS) sink(event)
  end()
  return io.stderrText()
}

test('traceToStderr on a terminal folds lines, and replaces a progress bar', () => {
  expect(shown(testIo({ columns: 80 }))).toBe(
    '\r\u001b[K    0.000005 ms  bar        read VS       VS=0x00010400 { TER=0 MNR=4 MJR=1 }\n' +
      '\r\u001b[K   20.022147 ms  cq 0       complete      CID=0x0000 SQID=0 SQHD=1 P=1\n' +
      '                                          Successful Completion (SCT 0h SC 00h)\n',
  )
})

test('traceToStderr without a terminal prints one line for each event', () => {
  expect(
    shown(testIo())
      .split('\n')
      .map((line) => line.slice(0, 16)),
  ).toEqual(['    0.000005 ms ', '   20.022147 ms ', ''])
})
