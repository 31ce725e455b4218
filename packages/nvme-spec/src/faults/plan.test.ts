import { describe, expect, it } from 'vitest'
import type { FaultPlan } from '../transport/index.js'
import {
  addressesBlocks,
  returnsData,
  ArmedPlan,
  checkFaultPlan,
  FaultPlanError,
  formatFaultPlan,
  parseFaultPlan,
} from './index.js'

/** Each action and each condition at least once. */
const everything: FaultPlan = {
  rules: [
    { match: { qid: 1, opcode: 2, nsid: 1, lba: [0, 7], nth: 3 }, action: { kind: 'drop-completion' } },
    { match: { every: 2, times: 4 }, action: { kind: 'hang' } },
    { match: { fromNs: 5, untilNs: 6 }, action: { kind: 'delay-completion', delayNs: 1 } },
    { match: { probability: 0.5 }, action: { kind: 'duplicate-completion' } },
    { match: {}, action: { kind: 'reorder-completion', behind: 2, atMostNs: 1e6 } },
    { match: {}, action: { kind: 'status', sct: 0, sc: 4, dnr: true, more: true, crd: 3 } },
    { match: {}, action: { kind: 'corrupt-cid', xor: 0x8000 } },
    { match: {}, action: { kind: 'corrupt-sqhd', xor: 1 } },
    { match: {}, action: { kind: 'corrupt-sqid', xor: 2 } },
    { match: {}, action: { kind: 'corrupt-phase' } },
    { match: {}, action: { kind: 'corrupt-data', byte: 0, xor: [1, 0, 0x80] } },
    { match: {}, action: { kind: 'corrupt-data', byte: 9, xor: 0xff } },
    { match: {}, action: { kind: 'torn-dma', fromByte: 512, toByte: 1024 } },
    { match: {}, action: { kind: 'wrong-page', page: 0, to: 1 } },
    { match: { register: 'SQyTDBL', qid: 1 }, action: { kind: 'lose-write' } },
    { match: { register: 'CC', access: 'write' }, action: { kind: 'delay-write', delayNs: 5 } },
    { match: { register: 'CSTS' }, action: { kind: 'read-value', value: 0xffff_ffff } },
    { match: { nth: 1 }, action: { kind: 'ready-never-rises' } },
    { match: {}, action: { kind: 'ready-never-falls' } },
    { match: { atNs: 5e9 }, action: { kind: 'fatal-status' } },
    { match: { register: 'CSTS', access: 'read', nth: 9 }, action: { kind: 'remove-device' } },
    { match: { qid: 0, opcode: 6 }, action: { kind: 'surprise-reset' } },
    { match: { atNs: 7 }, action: { kind: 'detach-namespace', nsid: 1 } },
    { match: { atNs: 8 }, action: { kind: 'attach-namespace', nsid: 1 } },
    { match: { nth: 9 }, action: { kind: 'resize-namespace', nsid: 1, blocks: 10 } },
    { match: { atNs: 0 }, action: { kind: 'throttle', factor: 1.5, forNs: 1e9 } },
    { match: { atNs: 9 }, action: { kind: 'stale-completion', qid: 1, back: 2 } },
    { match: { qid: 0, opcode: 0xc }, action: { kind: 'async-event', aet: 2, aei: 0, lid: 4 } },
  ],
}

it('a plan is formatted as JSON with one rule per line, and parsed to the same plan', () => {
  const text = formatFaultPlan(everything)
  expect(parseFaultPlan(text)).toEqual(everything)
  expect(text.split('\n')[1]).toBe(
    '  {"match":{"qid":1,"opcode":2,"nsid":1,"lba":[0,7],"nth":3},"action":{"kind":"drop-completion"}},',
  )
  expect(parseFaultPlan(formatFaultPlan({ rules: [] }))).toEqual({ rules: [] })
})

it('`satisfies FaultPlan` checks a plan in TypeScript and keeps its literal kinds', () => {
  const faults = { rules: [{ match: { opcode: 2 }, action: { kind: 'drop-completion' } }] } satisfies FaultPlan
  // @ts-expect-error -- not the name of a fault
  const wrong = { rules: [{ match: {}, action: { kind: 'lose-completion' } }] } satisfies FaultPlan
  expect(() => checkFaultPlan(wrong)).toThrow('got "lose-completion"')
  expect(() => checkFaultPlan(faults)).not.toThrow()
})

const drop = { kind: 'drop-completion' }
const rule = (match: unknown, action: unknown = drop) => ({
  rules: [
    { match: {}, action: drop },
    { match, action },
  ],
})

describe('an invalid plan is rejected with the rule and the field at fault', () => {
  it.each([
    [[], undefined, 'rules', /expected an object with a list 'rules'/],
    [{ rule: [] }, undefined, undefined, /unknown "rule"; known are rules/],
    [{ rules: [], seed: 3 }, undefined, undefined, /unknown "seed"; known are rules/],
    [{ rules: [7] }, 0, undefined, /expected an object with action/],
    [{ rules: [{ match: {} }] }, 0, 'action', /expected an object/],
    [rule({ opcod: 2 }), 1, 'match', /unknown "opcod"; known are qid, opcode, nsid, lba, register, access, atNs, /],
    [rule({ opcode: 256 }), 1, 'match.opcode', /expected an opcode from 0 to FFh; got 256/],
    [rule({ lba: [8, 7] }), 1, 'match.lba', /expected two LBAs, the second not below the first; got \[8,7\]/],
    [rule({ nth: 0 }), 1, 'match.nth', /expected a count from 1; got 0/],
    [rule({ probability: 0 }), 1, 'match.probability', /above 0 and at most 1; got 0/],
    [rule({}, { kind: 'explode' }), 1, 'action.kind', /expected one of drop-completion, hang, .*; got "explode"/],
    [rule({}, { kind: 'delay-completion' }), 1, 'action.delayNs', /expected whole nanoseconds from 1; got undefined/],
    [rule({}, { ...drop, delayNs: 1 }), 1, 'action', /unknown "delayNs"; none is known/],
    [
      rule({}, { kind: 'corrupt-data', byte: 0, xor: [0, 0] }),
      1,
      'action.xor',
      /masks from 0 to FFh that are not all 0/,
    ],
    [rule({}, { kind: 'throttle', factor: 1, forNs: 1 }), 1, 'action.factor', /expected a factor above 1; got 1/],
    [rule({}, { kind: 'stale-completion', qid: 1, back: 0 }), 1, 'action.back', /expected a count from 1; got 0/],
    [rule({}, { kind: 'async-event', aet: 8, aei: 0, lid: 1 }), 1, 'action.aet', /an event type from 0 to 7; got 8/],
    [rule({}, { kind: 'async-event', aet: 0, aei: 0, lid: 256 }), 1, 'action.lid', /expected a byte; got 256/],
  ])('%j', (plan, index, field, message) => {
    const refused = errorOf(() => parseFaultPlan(JSON.stringify(plan)))
    expect(refused).toMatchObject({ rule: index, field, code: 'ERR_GPUNVME_FAULT_PLAN' })
    expect(refused.message).toMatch(message)
  })

  it('text that is not JSON', () => {
    expect(errorOf(() => parseFaultPlan('{ rules: [] }')).message).toMatch(/^fault plan: not valid JSON: .*position 2/)
  })
})

describe('a rule that can never apply is rejected', () => {
  const read = { kind: 'read-value', value: 0 }
  const lose = { kind: 'lose-write' }
  const flip = { kind: 'corrupt-data', byte: 0, xor: 1 }
  it.each([
    [{ fromNs: 7, untilNs: 7 }, drop, 'match.untilNs', 'the time from 7 to before 7 ns is empty'],
    [{ register: 'CSTZ' }, read, 'match.register', 'there is no register "CSTZ", only CAP, VS, '],
    [{ register: 'CSTS', access: 'write' }, read, 'action.kind', "'read-value' applies to register read only"],
    [{ register: 'SQyTDBL' }, read, 'match.register', 'doorbells are only written'],
    [{ register: 'CC', qid: 1 }, lose, 'match.qid', 'CC belongs to no queue'],
    [{ register: 'CC', opcode: 1 }, lose, 'match.opcode', 'register accesses have no opcode, nsid or lba'],
    [{}, read, 'action.kind', "'read-value' applies to register read only"],
    [
      { register: 'CC' },
      drop,
      'action.kind',
      "'drop-completion' applies to command only, but this rule has register: this can",
    ],
    [{ atNs: 5 }, drop, 'action.kind', "'drop-completion' applies to command only, but this rule has atNs: this can"],
    [
      { qid: 1 },
      lose,
      'action.kind',
      'applies to register write only, but this rule has neither register nor atNs: this',
    ],
    [
      { register: 'CC', access: 'read' },
      lose,
      'action.kind',
      "applies to register write only, but this rule has register and access 'read': this",
    ],
    [{ nth: 3, times: 2 }, drop, 'match.times', "without 'every', 'nth' matches only once"],
    [{ register: 'CAP' }, lose, 'match.register', 'CAP is read-only'],
    [{ register: 'VS' }, { kind: 'delay-write', delayNs: 1 }, 'match.register', 'VS is read-only'],
    [
      { atNs: 5, nth: 1 },
      { kind: 'fatal-status' },
      'match.nth',
      "'atNs' is a single time and cannot be combined with 'nth'",
    ],
    [{ access: 'read' }, drop, 'match.access', "'access' applies to registers, not to commands"],
    [{ qid: 0, lba: [0, 0] }, drop, 'match.lba', 'Admin commands have no LBAs'],
    [{ opcode: 0, lba: [0, 0] }, drop, 'match.lba', 'opcode 0 has no SLBA and NLB'],
    [{ qid: 0 }, { kind: 'torn-dma', fromByte: 0 }, 'match.qid', "'torn-dma' applies to I/O commands"],
    [{ opcode: 0 }, { kind: 'torn-dma', fromByte: 0 }, 'match.opcode', 'of Read and Write, not of opcode 00h'],
    [{ opcode: 6 }, { kind: 'wrong-page', page: 0, to: 1 }, 'match.opcode', 'not of opcode 06h'],
    [
      { opcode: 0 },
      flip,
      'match.opcode',
      'of Read and Write, and of Admin commands that return data, not of opcode 00h',
    ],
    [{ qid: 0, opcode: 1 }, flip, 'match.opcode', 'not of opcode 01h'],
    [{ qid: 1, opcode: 6 }, flip, 'match.opcode', 'not of opcode 06h'],
    [{ lba: [0, 0], opcode: 12 }, flip, 'match.opcode', 'not of opcode 0Ch'],
    [
      {},
      { kind: 'torn-dma', fromByte: 9, toByte: 9 },
      'action.toByte',
      'the range from byte 9 to before byte 9 is empty',
    ],
    [{}, { kind: 'wrong-page', page: 1, to: 1 }, 'action.to', "'page' and 'to' are the same"],
    [{ register: 'CC' }, { kind: 'ready-never-rises' }, 'match.register', 'changes of CC.EN'],
  ])('%j %j', (match, action, field, why) => {
    const refused = errorOf(() => parseFaultPlan(JSON.stringify(rule(match, action))))
    expect(refused).toMatchObject({ rule: 1, field })
    expect(refused.message).toContain(why)
    expect(refused.message).toMatch(/can never apply$/)
  })
})

it('treats a rule without match as a rule with an empty one', () => {
  const text = '{"rules":[{"action":{"kind":"hang"}},{"action":{"kind":"ready-never-rises"}}]}'
  const plan = parseFaultPlan(text)
  expect(parseFaultPlan(formatFaultPlan(plan))).toEqual(JSON.parse(text))
  const armed = new ArmedPlan(plan, { seed: 1, now: () => 0 })
  expect(armed.affectsCommands).toBe(true)
  expect(
    armed
      .match(
        () => 'SQ 1 CID 7',
        ({ action }) => action.kind === 'hang',
      )
      ?.has('hang'),
  ).toBe(true)
  expect(armed.matchEnable('ready-never-rises')).toBe(true)
  const lost = '{"rules":[{"action":{"kind":"lose-write"}}]}'
  expect(() => parseFaultPlan(lost)).toThrow('this rule has neither register nor atNs: this can never apply')
})

it('similar rules that can apply are accepted', () => {
  const flip = { kind: 'corrupt-data', byte: 0, xor: 1 } as const
  const faults: FaultPlan = {
    rules: [
      { match: { qid: 0, opcode: 6 }, action: flip },
      { match: { opcode: 6 }, action: flip },
      { match: { opcode: 1 }, action: flip },
      { match: { nth: 3, every: 2, times: 2 }, action: flip },
      // CSTS.NSSRO is cleared by writing 1 to it (Base 2.1 §3.1.4.6).
      { match: { register: 'CSTS' }, action: { kind: 'lose-write' } },
      // A fault of the controller occurs at the write even though CAP is read-only.
      { match: { register: 'CAP', access: 'write' }, action: { kind: 'fatal-status' } },
    ],
  }
  expect(new ArmedPlan(faults, { seed: 1, now: () => 0 }).report().hits).toEqual([0, 0, 0, 0, 0, 0])
})

function errorOf(run: () => unknown): FaultPlanError {
  try {
    run()
  } catch (error) {
    if (error instanceof FaultPlanError) return error
    throw error
  }
  throw new Error('expected a FaultPlanError')
}

it.each([{}, undefined, { rules: [{}] }])('formatFaultPlan rejects an invalid plan: %j', (plan) => {
  expect(() => formatFaultPlan(plan as never)).toThrow(FaultPlanError)
})

it.each([
  // Opcodes of Admin commands: bits 1:0 are 10b if data goes to the host (Base 2.1 §4.1.1).
  ['Get Log Page', 0x02, true],
  ['Identify', 0x06, true],
  ['Get Features', 0x0a, true],
  ['Create I/O Submission Queue', 0x01, false],
  ['Abort', 0x08, false],
  ['Set Features', 0x09, false],
])('for %s, returnsData(%i) is %s', (_, opcode, expected) => {
  expect(returnsData(opcode)).toBe(expected)
})

it.each([
  ['Write', 0x01, true],
  ['Read', 0x02, true],
  ['Verify', 0x0c, true],
  ['Flush', 0x00, false],
  ['Dataset Management', 0x09, false],
  ['Copy', 0x19, false],
])('for %s, addressesBlocks(%i) is %s', (_, opcode, expected) => {
  expect(addressesBlocks(opcode)).toBe(expected)
})

it('rejects a plan with a value nested 100,000 levels deep', () => {
  const nested = '['.repeat(100_000) + ']'.repeat(100_000)
  for (const rule of [
    `{"match":{"qid":${nested}},"action":{"kind":"hang"}}`,
    `{"match":{},"action":{"kind":${nested}}}`,
  ])
    expect(() => parseFaultPlan(`{"rules":[${rule}]}`)).toThrow(FaultPlanError)
})
