import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LinkTimesCounter } from './link-times.js'

const LENGTH = 200

test('overlapping intervals count once for each link and for both', () => {
  const interval = fc.tuple(fc.constantFrom('drive', 'copy'), fc.nat(LENGTH), fc.nat(LENGTH))
  fc.assert(
    fc.property(fc.array(interval, { maxLength: 40 }), (intervals) => {
      const counter = new LinkTimesCounter()
      const busy = { drive: new Set<number>(), copy: new Set<number>() }
      for (const [link, a, b] of intervals) {
        const [startNs, endNs] = [Math.min(a, b), Math.max(a, b)]
        counter.add(link, { startNs, endNs })
        for (let ns = startNs; ns < endNs; ns++) busy[link].add(ns)
      }
      expect(counter.snapshot).toEqual({
        driveBusyNs: busy.drive.size,
        copyBusyNs: busy.copy.size,
        bothBusyNs: [...busy.drive].filter((ns) => busy.copy.has(ns)).length,
      })
    }),
  )
})
