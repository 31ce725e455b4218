import { describe, expect, it } from 'vitest'
import { recentEvents } from './recent.js'

const event = (timeNs: number) => ({ timeNs, track: 'sq 1', name: 'fetch' })

describe('recentEvents', () => {
  it('returns all events up to the limit', () => {
    const recent = recentEvents(3)
    expect(recent.events()).toEqual([])
    expect(recent.text()).toBe('')
    for (const timeNs of [1, 2, 3]) recent(event(timeNs))
    expect(recent.events()).toEqual([event(1), event(2), event(3)])
    expect(recent.text()).toBe(
      '    0.000001 ms  sq 1       fetch\n    0.000002 ms  sq 1       fetch\n    0.000003 ms  sq 1       fetch\n',
    )
  })

  it('returns the last events in order, and the number of dropped ones', () => {
    const recent = recentEvents(3)
    for (let timeNs = 1; timeNs <= 3005; timeNs++) recent(event(timeNs))
    expect(recent.events().map(({ timeNs }) => timeNs)).toEqual([3003, 3004, 3005])
    expect(recent.text()).toBe(
      '… 3002 earlier events dropped\n' +
        '    0.003003 ms  sq 1       fetch\n    0.003004 ms  sq 1       fetch\n    0.003005 ms  sq 1       fetch\n',
    )
  })

  it('accepts a limit of one', () => {
    const recent = recentEvents(1)
    recent(event(1))
    recent(event(2))
    expect(recent.events()).toEqual([event(2)])
  })

  it('returns a snapshot', () => {
    const recent = recentEvents(1)
    recent(event(1))
    const before = recent.events()
    recent(event(2))
    expect(before).toEqual([event(1)])
  })

  it.each([0, -1, 1.5, 2 ** 32, Number.NaN])('rejects a limit of %d', (limit) => {
    expect(() => recentEvents(limit)).toThrow(RangeError)
  })
})
