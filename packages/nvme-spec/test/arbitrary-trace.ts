import fc from 'fast-check'
import type { TraceEvent } from '../src/transport/index.js'

/** Any text: letters, control characters, halves of surrogate pairs, names of properties that every object has. */
const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.string({ unit: lone() }), fc.constant('__proto__'))

function lone(): fc.Arbitrary<string> {
  return fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit))
}

// Negative zero is zero in every format, and is left out.
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value))

/** Any event, with times of whole nanoseconds over the whole range. */
export const anyTraceEvent: fc.Arbitrary<TraceEvent> = fc
  .record(
    {
      timeNs: fc.oneof(fc.maxSafeNat(), fc.integer({ min: -1000, max: 1000 })),
      track: fc.oneof(text, fc.constantFrom('sq 1', 'cq 1')),
      name: text,
      durationNs: fc.nat(5000),
      details: fc.dictionary(text, fc.oneof(text, number)),
    },
    { requiredKeys: ['timeNs', 'track', 'name'] },
  )
  .filter(({ timeNs, durationNs = 0 }) => timeNs + durationNs <= Number.MAX_SAFE_INTEGER)
