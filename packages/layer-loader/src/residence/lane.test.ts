import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Lane } from './lane.js'

const never = new AbortController().signal
const turn = () => new Promise(setImmediate)

/** A lane whose loads end when the test says so. */
function watched(places: number) {
  const begun: string[] = []
  const dropped: string[] = []
  const ends = new Map<string, { resolve: () => void; reject: (error: Error) => void }>()
  const lane = new Lane<string>(places, {
    load(layer) {
      begun.push(layer)
      return new Promise((resolve, reject) => ends.set(layer, { resolve: () => resolve(layer), reject }))
    },
    drop: (layer) => void dropped.push(layer),
  })
  return { lane, begun, dropped, end: (layer: string) => ends.get(layer)!.resolve(), ends }
}

test('as many layers are on their way as there are places, and the next when one is freed', async () => {
  const { lane, begun, end } = watched(2)
  lane.expect(['a', 'b', 'c', 'd'])
  expect(begun).toEqual(['a', 'b'])
  end('b')
  end('a')
  expect(await lane.take(never)).toBe('a')
  expect(await lane.take(never)).toBe('b')
  expect([begun, lane.isHeld]).toEqual([['a', 'b'], true])
  lane.free()
  expect([begun, lane.isHeld]).toEqual([['a', 'b', 'c'], false])
})

test('what is on its way in the new order is kept; the rest is dropped when it is there, and its place used again', async () => {
  const { lane, begun, dropped, end } = watched(3)
  lane.expect(['a', 'b', 'c', 'd'])
  lane.expect(['a', 'c', 'e'])
  expect(begun).toEqual(['a', 'b', 'c'])
  for (const layer of ['a', 'b', 'c']) end(layer)
  await turn()
  // The second 'c' is loaded anew: its first was behind 'b'.
  expect([begun, dropped]).toEqual([
    ['a', 'b', 'c', 'c', 'e'],
    ['b', 'c'],
  ])
})

test('a load that fails is told to whoever takes it, and leaves its place', async () => {
  const { lane, begun, ends } = watched(1)
  lane.expect(['a', 'b'])
  ends.get('a')!.reject(new Error('no such luck'))
  await expect(lane.take(never)).rejects.toThrow('no such luck')
  expect(begun).toEqual(['a', 'b'])
})

test('a taker that gives up leaves the layer to the next', async () => {
  const { lane, end } = watched(1)
  lane.expect(['a'])
  const abort = new AbortController()
  const first = lane.take(abort.signal)
  abort.abort(new Error('not now'))
  await expect(first).rejects.toThrow('not now')
  end('a')
  expect(await lane.take(never)).toBe('a')
})

test.each([0, 1, 2, 3, 4, 5, 6])(
  'a layer that arrives as the lane is closed is taken or dropped, never both (%i microtasks before)',
  async (microtasks) => {
    const { lane, dropped, end } = watched(1)
    const abort = new AbortController()
    lane.expect(['a'])
    const taken: string[] = []
    const taking = lane.take(abort.signal).then(
      (layer) => void taken.push(layer),
      (error: unknown) => expect(error).toBe(abort.signal.reason),
    )
    end('a')
    for (let passed = 0; passed < microtasks; passed++) await Promise.resolve()
    abort.abort(new Error('closed'))
    await lane.close()
    await taking
    expect([...taken, ...dropped]).toEqual(['a'])
  },
)

test.each([0, 1, 2, 3, 4, 5, 6])(
  'a layer that arrives as another order is given is taken or dropped, never both (%i microtasks before)',
  async (microtasks) => {
    const { lane, begun, dropped, end } = watched(2)
    lane.expect(['a'])
    const taking = lane.take(never)
    end('a')
    for (let passed = 0; passed < microtasks; passed++) await Promise.resolve()
    lane.expect(['b'])
    expect(begun).toEqual(['a', 'b'])
    end('b')
    expect([await taking, ...dropped].sort()).toEqual(dropped.length > 0 ? ['a', 'b'] : ['a'])
  },
)

test('closing waits for what has begun, drops it, and begins nothing more', async () => {
  const { lane, begun, dropped, end } = watched(2)
  lane.expect(['a', 'b', 'c'])
  const closed = lane.close()
  end('a')
  await turn()
  end('b')
  await closed
  expect([begun, dropped]).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ])
})

test(
  'whatever is expected, taken, freed and given up, what is taken is what was expected next, and places never run over',
  () =>
    fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(
          fc.oneof(
            fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { maxLength: 8 }),
            fc.constantFrom('take', 'free'),
          ),
        ),
        async (places, actions) => {
          let inPlaces = 0
          let most = 0
          const lane = new Lane<string>(places, {
            async load(layer) {
              most = Math.max(most, ++inPlaces)
              await turn()
              return layer
            },
            drop() {
              inPlaces--
            },
          })
          let expected: string[] = []
          let held = 0
          for (const action of actions) {
            if (typeof action === 'object') lane.expect((expected = [...action]))
            else if (action === 'free' && held > 0) {
              held--
              inPlaces--
              lane.free()
            } else if (action === 'take' && expected.length > 0 && held < places) {
              expect(await lane.take(never)).toBe(expected.shift())
              held++
            }
          }
          expect(most).toBeLessThanOrEqual(places)
          await lane.close()
          expect(inPlaces).toBe(held)
        },
      ),
      { numRuns: 200 },
    ),
  60_000,
)
