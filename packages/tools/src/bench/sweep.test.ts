import { describe, expect, test } from 'vitest'
import type { BenchRepeat } from '../report/bench-results.js'
import { RefusedError, type Contender, type Measured } from './contender.js'
import { shapesOf, type Shape } from './shape.js'
import { runSweep, type SweepOptions } from './sweep.js'

const SHAPES = shapesOf({ words: ['read'], blockBytes: [4096], depths: [1, 32], jobs: [1] })
const GOOD: BenchRepeat = { bytes: 1e9, commands: 1000, seconds: 1 }

/** Returns a contender whose repeats are the results of `measured`, in order. */
function contender(
  name: string,
  measured: (count: number, shape: Shape, withTimeline: boolean) => Partial<Measured>,
  latencyOf: 'command' | 'plan' = 'plan',
): Contender {
  let count = 0
  return {
    source: { name, kind: 'engine', description: '', memory: 'host', latencyOf },
    measure: (shape, withTimeline) => {
      const found = measured(count++, shape, withTimeline)
      return Promise.resolve({ repeat: GOOD, remarks: [], ...found })
    },
  }
}

const sweep = (contenders: readonly Contender[], changes: Partial<SweepOptions> = {}) =>
  runSweep({ shapes: SHAPES, contenders, repeats: 3, coolDown: () => Promise.resolve(), timeline: false, ...changes })

test('shapesOf combines all values, with the first list changing slowest', () => {
  const shapes = shapesOf({ words: ['read', 'randwrite'], blockBytes: [512], depths: [1, 8], jobs: [2] })
  expect(shapes.map(({ rw, pattern, depth, jobs }) => [rw, pattern, depth, jobs])).toEqual([
    ['read', 'sequential', 1, 2],
    ['read', 'sequential', 8, 2],
    ['write', 'random', 1, 2],
    ['write', 'random', 8, 2],
  ])
})

describe('turns', () => {
  test('contenders alternate, and a different one begins each round', async () => {
    const order: string[] = []
    await sweep(
      ['a', 'b', 'c'].map((name) => contender(name, () => ({}))),
      {
        shapes: SHAPES.slice(0, 1),
        onTurn: (_, name, repeat) => order.push(`${name}${repeat}`),
      },
    )
    expect(order).toEqual(['a0', 'b0', 'c0', 'b1', 'c1', 'a1', 'c2', 'a2', 'b2'])
  })

  test('a cool-down is between any two repeats, but not before the first', async () => {
    let coolDowns = 0
    const coolDown = () => {
      coolDowns++
      return Promise.resolve()
    }
    await sweep([contender('a', () => ({})), contender('b', () => ({}))], { coolDown })
    expect(coolDowns).toBe(2 * 2 * 3 - 1)
  })

  test('repeats have the number of their turn', async () => {
    const { cells } = await sweep([contender('a', () => ({})), contender('b', () => ({}))])
    expect(cells.map(({ source, depth, repeats }) => [source, depth, repeats.map(({ turn }) => turn)])).toEqual([
      ['a', 1, [0, 3, 4]],
      ['b', 1, [1, 2, 5]],
      ['a', 32, [6, 9, 10]],
      ['b', 32, [7, 8, 11]],
    ])
  })
})

test('a contender that refuses a setting is not run again for it', async () => {
  let calls = 0
  const picky = contender('picky', (_, { depth }) => {
    calls++
    if (depth === 32) throw new RefusedError({ reason: 'too deep', next: '--qd 8' })
    return {}
  })
  const { cells } = await sweep([picky, contender('other', () => ({}))])
  expect(calls).toBe(3 + 1)
  expect(cells[2]).toMatchObject({ repeats: [], problem: { kind: 'refused', reason: 'too deep', next: '--qd 8' } })
  expect(cells[3]!.repeats).toHaveLength(3)
})

test('any other error ends the sweep', async () => {
  const broken = contender('broken', () => {
    throw new Error('the drive is gone')
  })
  await expect(sweep([broken])).rejects.toThrow('the drive is gone')
})

test('a problem of one repeat fails its cell, and all repeats are kept', async () => {
  const wrong = contender('wrong', (count) => ({ repeat: count === 1 ? { ...GOOD, problem: 'bad data' } : GOOD }))
  const { cells } = await sweep([wrong])
  expect(cells[0]).toMatchObject({ problem: { kind: 'failed', reason: 'bad data' } })
  expect(cells[0]!.repeats.map(({ problem }) => problem)).toEqual([undefined, 'bad data', undefined])
  expect(cells[1]!.problem).toBeUndefined()
})

test('outliers are marked among repeats without problems, and all repeats are kept', async () => {
  const seconds = [1, 1.01, 0.99, 1.02, 3, 1]
  const shaky = contender('shaky', (count) => ({
    repeat: { ...GOOD, seconds: seconds[count] ?? 1, ...(count === 5 && { problem: 'bad data', seconds: 9 }) },
  }))
  const { cells } = await sweep([shaky], { shapes: SHAPES.slice(0, 1), repeats: 6 })
  expect(cells[0]!.repeats).toHaveLength(6)
  expect(cells[0]!.repeats.map(({ outlier }) => outlier !== undefined)).toEqual([
    false,
    false,
    false,
    false,
    true,
    false,
  ])
})

test('the timeline is of the last setting and the first contender that measures commands', async () => {
  const calls: [string, number, boolean][] = []
  const commands = [{ queue: 1, startNs: 0, endNs: 5, bytes: 4096 }]
  const observed = (name: string, latencyOf: 'command' | 'plan') =>
    contender(
      name,
      (_, { depth }, withTimeline) => {
        calls.push([name, depth, withTimeline])
        return withTimeline ? { timeline: commands } : {}
      },
      latencyOf,
    )
  const { timeline } = await sweep([observed('plans', 'plan'), observed('host', 'command')], {
    timeline: true,
    repeats: 2,
  })
  expect(timeline).toEqual({ cell: 3, commands })
  expect(calls.filter(([, , withTimeline]) => withTimeline)).toEqual([['host', 32, true]])
})

test('remarks are unique, and paces are in order', async () => {
  const { remarks, paces } = await sweep([contender('a', (count) => ({ remarks: ['blank'], pace: count }))])
  expect(remarks).toEqual(['blank'])
  expect(paces).toEqual([0, 1, 2, 3, 4, 5])
})
