import type { FaultAction, FaultMatch, FaultPlan, FaultRule } from '@gpunvme/nvme-spec/transport'
import { Dice } from './dice.js'
import { MAX_DATA_BYTES, type Scenario } from './scenario.js'

type Shape = Pick<Scenario, 'sqs' | 'namespaces'>

/**
 * Returns one to four random faults of any kind. Faults that stop the controller occur once, so that the run continues.
 * Lost writes of ASQ, ACQ, and AQA after its first write are left out: see `registerRule`.
 */
export function randomPlan(seed: number, shape: Shape): FaultPlan {
  const dice = new Dice(seed, 'dst faults')
  return { rules: Array.from({ length: dice.int(1, 4) }, () => randomRules(dice, shape)).flat() }
}

/** Returns one rule, or two that belong together. */
function randomRules(dice: Dice, shape: Shape): readonly FaultRule[] {
  return dice.chance(0.1) ? namespaceRules(dice, shape) : [randomRule(dice, shape)]
}

function randomRule(dice: Dice, shape: Shape): FaultRule {
  return dice.weighted<() => FaultRule>([
    [14, () => commandRule(dice, shape)],
    [2, () => doorbellRule(dice, shape)],
    [1, () => registerRule(dice)],
    [
      1,
      () => ({
        match: { nth: dice.int(1, 3) },
        action: { kind: dice.pick(['ready-never-rises', 'ready-never-falls']) },
      }),
    ],
    [2, () => ({ match: moment(dice, shape), action: controllerAction(dice) })],
    [2.5, () => unsolicitedRule(dice, shape)],
  ])()
}

/** Returns a rule for a repeated completion, or for an asynchronous event without a cause. */
function unsolicitedRule(dice: Dice, shape: Shape): FaultRule {
  const often: FaultMatch = { every: dice.int(1, 9), times: dice.int(1, 6) }
  const match: FaultMatch = dice.chance(0.3) ? moment(dice, shape) : { qid: dice.pick(shape.sqs).qid, ...often }
  if (dice.chance(0.6)) {
    const qid = dice.pick([0, ...shape.sqs.map(({ cqid }) => cqid)])
    return { match, action: { kind: 'stale-completion', qid, back: dice.int(1, 6) } }
  }
  const action: FaultAction = {
    kind: 'async-event',
    aet: dice.pick([1, 2, 6]),
    aei: dice.pick([0, 1, 3]),
    lid: dice.pick([2, 4, 0x70]),
  }
  return { match, action }
}

/** Returns a rule for commands, mostly I/O commands: faults of Admin commands often end a run early. */
function commandRule(dice: Dice, { sqs, namespaces }: Shape): FaultRule {
  const action = commandAction(dice)
  // These actions apply to Read and Write only.
  const isOfData = ['corrupt-data', 'torn-dma', 'wrong-page'].includes(action.kind)
  const isAdmin = dice.chance(0.1) && action.kind !== 'torn-dma' && action.kind !== 'wrong-page'
  const often = dice.weighted<FaultMatch>([
    [4, { nth: dice.int(1, 12), times: 1 }],
    [2, { every: dice.int(2, 9), times: dice.int(1, 8) }],
    [3, { probability: dice.pick([0.02, 0.1, 0.3]), times: dice.int(1, 10) }],
  ])
  const when: FaultMatch = dice.chance(0.15) ? period(dice) : {}
  if (isAdmin) return { match: { qid: 0, ...often, times: 1 }, action }
  const where = dice.weighted<() => FaultMatch>([
    [3, () => ({ qid: dice.pick(sqs).qid })],
    [2, () => ({ qid: dice.pick(sqs).qid, opcode: dice.pick([1, 2]) })],
    [1, () => ({ nsid: dice.pick(namespaces).nsid, opcode: dice.pick(isOfData ? [1, 2] : [0, 1, 2]) })],
    [1, () => ({ qid: dice.pick(sqs).qid, lba: [dice.int(0, 20), dice.int(20, 60)] })],
  ])()
  return { match: { ...where, ...often, ...when }, action }
}

/** Identifiers are changed in bits that no valid one has, so that the intended command stays recognizable. */
function commandAction(dice: Dice): FaultAction {
  const byte = dice.int(0, dice.pick([511, 4095, MAX_DATA_BYTES - 1]))
  return dice.weighted<FaultAction>([
    [3, { kind: 'drop-completion' }],
    [3, { kind: 'hang' }],
    [3, { kind: 'delay-completion', delayNs: dice.pick([1, 5_000, 1_000_000, 2_000_000_000]) }],
    [3, { kind: 'duplicate-completion' }],
    [3, { kind: 'reorder-completion', behind: dice.int(1, 5), atMostNs: dice.pick([100_000, 1_000_000_000]) }],
    [3, { kind: 'status', sct: dice.pick([0, 2]), sc: dice.pick([0x04, 0x81]), dnr: dice.chance(0.5) }],
    [1, { kind: 'status', sct: 0, sc: 0x21, more: true, crd: dice.int(1, 3) }],
    [1, { kind: 'status', sct: 0, sc: 0 }],
    [2, { kind: 'corrupt-cid', xor: 0x8000 | dice.int(0, 0x3fff) }],
    [1, { kind: 'corrupt-sqhd', xor: dice.int(1, 0xffff) }],
    [1, { kind: 'corrupt-sqid', xor: 0x4000 | dice.int(0, 7) }],
    [1, { kind: 'corrupt-phase' }],
    [2, { kind: 'corrupt-data', byte, xor: dice.chance(0.5) ? dice.int(1, 255) : [1, dice.int(0, 255), 0x80] }],
    [2, { kind: 'torn-dma', fromByte: byte, ...(dice.chance(0.5) ? { toByte: byte + dice.int(1, 5000) } : {}) }],
    [1, { kind: 'wrong-page', page: dice.int(0, 1), to: dice.int(2, 4) }],
    [1, controllerAction(dice)],
  ])
}

function controllerAction(dice: Dice): FaultAction {
  return dice.weighted<FaultAction>([
    [2, { kind: 'fatal-status' }],
    [2, { kind: 'surprise-reset' }],
    [1, { kind: 'remove-device' }],
    [2, { kind: 'throttle', factor: dice.int(2, 20), forNs: dice.pick([1_000_000, 1_000_000_000]) }],
  ])
}

/** Returns rules that, like another host, detach a namespace and perhaps attach it again, or resize it. */
function namespaceRules(dice: Dice, shape: Shape): readonly FaultRule[] {
  const { nsid, blocks } = dice.pick(shape.namespaces)
  const resize = (): FaultAction => ({ kind: 'resize-namespace', nsid, blocks: dice.int(1, blocks) })
  const detach: FaultAction = { kind: 'detach-namespace', nsid }
  const attach: FaultAction = { kind: 'attach-namespace', nsid }
  const [first, second] = dice.pick([[detach], [detach, attach], [detach, attach], [resize(), resize()]])
  const { qid } = dice.pick(shape.sqs)
  const nth = dice.int(1, 8)
  const rules: FaultRule[] = [{ match: dice.chance(0.5) ? { qid, nth } : moment(dice, shape), action: first }]
  if (second) rules.push({ match: { qid, nth: nth + dice.int(1, 8) }, action: second })
  return rules
}

function period(dice: Dice): FaultMatch {
  const fromNs = dice.pick([0, 1_000_000, 30_000_000]) * dice.int(1, 9)
  return { fromNs, untilNs: fromNs + dice.pick([100_000, 30_000_000, 500_000_000]) }
}

function doorbellRule(dice: Dice, { sqs }: Shape): FaultRule {
  const match: FaultMatch = {
    register: dice.pick(['SQyTDBL', 'CQyHDBL']),
    ...(dice.chance(0.7) ? { qid: dice.pick(sqs).qid } : {}),
    nth: dice.int(1, 20),
    times: 1,
  }
  const action: FaultAction = dice.chance(0.6)
    ? { kind: 'lose-write' }
    : { kind: 'delay-write', delayNs: dice.pick([700, 1_000_000, 500_000_000]) }
  return { match, action }
}

function registerRule(dice: Dice): FaultRule {
  if (dice.chance(0.5)) {
    const value = dice.pick([0, 1, 2, 0xffff_ffff])
    return {
      match: { register: 'CSTS', nth: dice.int(1, 30), every: 1, times: dice.int(1, 2) },
      action: { kind: 'read-value', value },
    }
  }
  if (dice.chance(0.3)) {
    return { match: { register: 'AQA', nth: 1 }, action: { kind: 'lose-write' } }
  }
  // After a lost write of ASQ or ACQ, or a later one of AQA, the controller would access memory outside the rings, and
  // could not detect that.
  const delay: FaultAction = { kind: 'delay-write', delayNs: 3_000_000 }
  const match: FaultMatch = { register: 'CC', access: 'write', nth: dice.int(1, 3), times: 1 }
  return { match, action: dice.pick([{ kind: 'lose-write' }, delay]) }
}

function moment(dice: Dice, shape: Shape): FaultMatch {
  return dice.weighted<() => FaultMatch>([
    [2, () => ({ atNs: dice.pick([1_000, 1_000_000, 30_000_000, 200_000_000]) * dice.int(1, 9) })],
    [1, () => ({ register: 'CSTS', nth: dice.int(1, 20) })],
    [1, () => ({ register: 'SQyTDBL', nth: dice.int(1, 30), qid: dice.pick(shape.sqs).qid })],
  ])()
}
