import { expect, test } from 'vitest'
import { command, finding, instead, type Draft } from '../finding.js'
import { judge, reachOf, type Readiness } from './judge.js'
import type { Route } from '../route.js'

const GPU = '0000:0a:00.0'
const DRIVE = '0000:0b:00.0'
const STEP = command('something')

function readinesses(drafts: Partial<Draft>[], gpus = [GPU]): Partial<Record<Route, Readiness>> {
  const [pair] = judge(
    drafts.map((draft) => finding('system', { id: 'x', severity: 'problem', title: 'x', ...draft })),
    [DRIVE],
    gpus,
  )
  return Object.fromEntries(pair!.verdicts.map(({ route, readiness }) => [route, readiness]))
}

test('without findings, memory and tier 1 are ready, and other routes are to be tried', () => {
  expect(readinesses([])).toEqual({
    ...{ memory: 'ready', tier1: 'ready', 'tier1-cuda': 'try' },
    ...{ 'tier2-dma-buf': 'try', 'tier2-static-bar1': 'try', tier3: 'try' },
  })
})

test('a closed route closes all routes that depend on it, and no others', () => {
  expect(readinesses([{ closes: ['tier1'] }])).toEqual({
    ...{ memory: 'ready', tier1: 'no', 'tier1-cuda': 'no', 'tier2-dma-buf': 'no', 'tier2-static-bar1': 'no' },
    tier3: 'no',
  })
  expect(readinesses([{ closes: ['tier1-cuda'] }])).toMatchObject({
    tier1: 'ready',
    'tier2-dma-buf': 'try',
    tier3: 'no',
  })
})

test('a blocker with steps gives readiness steps, one with an alternative gives no', () => {
  expect(readinesses([{ closes: ['memory'], steps: [STEP] }])).toMatchObject({ memory: 'steps', tier1: 'steps' })
  expect(readinesses([{ closes: ['memory'], steps: [instead('y')] }])).toMatchObject({ memory: 'no', tier1: 'no' })
})

test('an unknown finding gives readiness unknown, unless another one closes the route', () => {
  const unknown = { severity: 'unknown', closes: ['tier1'] } as const
  expect(readinesses([unknown])).toMatchObject({ memory: 'ready', tier1: 'unknown', tier3: 'unknown' })
  expect(readinesses([unknown, { closes: ['tier1-cuda'] }])).toMatchObject({ tier1: 'unknown', 'tier1-cuda': 'no' })
})

test('findings about other devices are ignored, and without a GPU only memory is judged', () => {
  expect(readinesses([{ closes: ['memory'], subjects: ['0000:0c:00.0'] }])).toMatchObject({ memory: 'ready' })
  expect(readinesses([{ closes: ['memory'], subjects: [DRIVE] }], [])).toEqual({ memory: 'no' })
})

test('the best route is ready or reachable by steps, and pairs are sorted by it', () => {
  const busy = finding('drives', { id: 'a', severity: 'blocker', title: 'a', subjects: [DRIVE], closes: ['memory'] })
  const pairs = judge([busy], [DRIVE, '0000:0c:00.0'], [GPU])
  expect(pairs.map(({ drive, best }) => [drive, best?.route])).toEqual([
    ['0000:0c:00.0', 'tier1'],
    [DRIVE, undefined],
  ])
  expect(reachOf(pairs, [busy])).toBe(pairs[0])
})

test('reachOf is the simulator without a usable drive, and unknown if the machine is not visible', () => {
  const busy = finding('drives', { id: 'a', severity: 'blocker', title: 'a', subjects: [DRIVE], closes: ['memory'] })
  expect(reachOf(judge([busy], [DRIVE], []), [busy])).toBe('simulator')
  const blind = finding('system', { id: 'b', severity: 'unknown', title: 'b', closes: ['memory'] })
  expect(reachOf([], [blind])).toBe('unknown')
  expect(reachOf([], [])).toBe('simulator')
})
