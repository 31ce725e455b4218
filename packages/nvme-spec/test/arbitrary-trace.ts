import fc from 'fast-check'
import type { TraceCommand, TraceCompletion, TraceEvent } from '../src/transport/index.js'

/** Arbitrary text with control characters, lone surrogates, and the name of an inherited property. */
const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.string({ unit: lone() }), fc.constant('__proto__'))

function lone(): fc.Arbitrary<string> {
  return fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit))
}

// Without negative zero, which all formats write as 0.
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value))

const hex = (characters: number) =>
  fc.string({ unit: fc.nat(15).map((digit) => digit.toString(16)), minLength: characters, maxLength: characters })
const address = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value) => `0x${value.toString(16)}`)
const u16 = fc.nat(0xffff)

const command: fc.Arbitrary<TraceCommand> = fc.record(
  {
    ...{ qid: u16, cid: u16, opcode: fc.nat(0xff), name: text, nsid: fc.nat(0xffff_ffff) },
    slba: fc.oneof(fc.maxSafeNat(), fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n - 1n }).map(String)),
    ...{ nlb: u16, prp1: address, prp2: address, raw: hex(128), text },
  },
  { requiredKeys: ['qid', 'cid', 'opcode', 'name', 'nsid', 'raw', 'text'] },
)

const completion: fc.Arbitrary<TraceCompletion> = fc.record({
  ...{ qid: u16, cid: u16, sct: fc.nat(7), sc: fc.nat(0xff), status: text, raw: hex(32), text },
})

/** Arbitrary events, with times of whole nanoseconds in the entire range. */
export const anyTraceEvent: fc.Arbitrary<TraceEvent> = fc
  .record(
    {
      timeNs: fc.oneof(fc.maxSafeNat(), fc.integer({ min: -1000, max: 1000 })),
      track: fc.oneof(text, fc.constantFrom('sq 1', 'cq 1')),
      name: text,
      durationNs: fc.nat(5000),
      command,
      completion,
      details: fc.dictionary(text, fc.oneof(text, number)),
    },
    { requiredKeys: ['timeNs', 'track', 'name'] },
  )
  .filter(({ timeNs, durationNs = 0 }) => timeNs + durationNs <= Number.MAX_SAFE_INTEGER)
