import { simulate } from '@gpunvme/nvme-sim'
import type { TraceEvent } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import { isTraced, traceInto, wrapTraced } from './active.js'

test('wrapTraced returns the same transport without a trace', () => {
  const { transport } = simulate()
  expect(isTraced()).toBe(false)
  expect(wrapTraced(transport, 'modelled')).toBe(transport)
})

test('each transport opened in a trace has its own tracks and an open event with its clock', async () => {
  const events: TraceEvent[] = []
  await traceInto(
    (event) => events.push(event),
    async () => {
      await Promise.resolve()
      expect(isTraced()).toBe(true)
      for (const time of ['modelled', 'wall'] as const) wrapTraced(simulate().transport, time).bar.read32(8)
    },
  )
  expect(events.map(({ track, name, details }) => [track, name, details?.['time']])).toEqual([
    ['trace', 'open', 'modelled'],
    ['bar', 'read VS', undefined],
    ['2: trace', 'open', 'wall'],
    ['2: bar', 'read VS', undefined],
  ])
})
