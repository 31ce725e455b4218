import type { FaultAction, FaultMatch, FaultRule } from '@gpunvme/nvme-spec/transport'
import type { NamespaceShape } from './scenario.js'
import { Dice } from '@gpunvme/nvme-sim/dst'

export type FaultKind = FaultAction['kind']

/** All kinds of faults; `satisfies` rejects a missing one. */
export const KINDS: readonly FaultKind[] = Object.keys({
  'drop-completion': 0,
  hang: 0,
  'delay-completion': 0,
  'duplicate-completion': 0,
  'reorder-completion': 0,
  status: 0,
  'corrupt-cid': 0,
  'corrupt-sqhd': 0,
  'corrupt-sqid': 0,
  'corrupt-phase': 0,
  'corrupt-data': 0,
  'torn-dma': 0,
  'wrong-page': 0,
  'lose-write': 0,
  'delay-write': 0,
  'read-value': 0,
  'ready-never-rises': 0,
  'ready-never-falls': 0,
  'fatal-status': 0,
  'remove-device': 0,
  'surprise-reset': 0,
  'detach-namespace': 0,
  'attach-namespace': 0,
  'resize-namespace': 0,
  throttle: 0,
  'stale-completion': 0,
  'async-event': 0,
} satisfies Record<FaultKind, 0>) as FaultKind[]

/** Kinds that `faulty` can inject as well. */
const AT_THE_BOUNDARY: readonly FaultKind[] = [
  'lose-write',
  'delay-write',
  'read-value',
  'ready-never-rises',
  'ready-never-falls',
  'fatal-status',
  'remove-device',
  'surprise-reset',
]

/** Queues and namespaces to which rules may refer. */
export interface Ground {
  readonly queues: number
  readonly namespaces: readonly NamespaceShape[]
}

export interface RandomFaults {
  readonly inside: { readonly rules: readonly FaultRule[] }
  readonly boundary: { readonly rules: readonly FaultRule[] }
}

/** Returns the faults of a seed. Odd seeds have one kind, each in turn; even seeds have two or three kinds, or none. */
export function randomFaults(seed: number, ground: Ground): RandomFaults {
  const dice = new Dice(seed, 'driver dst faults')
  const kinds =
    seed % 2 === 1
      ? [KINDS[((seed - 1) / 2) % KINDS.length]!]
      : Array.from(
          {
            length: dice.weighted([
              [1, 0],
              [12, 2],
              [6, 3],
            ] as const),
          },
          () => dice.pick(KINDS),
        )
  const inside: FaultRule[] = []
  const boundary: FaultRule[] = []
  for (const kind of kinds) {
    const place = AT_THE_BOUNDARY.includes(kind) && dice.chance(0.5) ? boundary : inside
    place.push(...rulesOf(dice, kind, ground, place === boundary))
  }
  return { inside: { rules: inside }, boundary: { rules: boundary } }
}

function rulesOf(dice: Dice, kind: FaultKind, ground: Ground, atBoundary: boolean): readonly FaultRule[] {
  switch (kind) {
    case 'lose-write':
      return [{ match: writeMatch(dice, ground, LOSABLE), action: { kind } }]
    case 'delay-write': {
      const delayNs = dice.pick([700, 100_000, 5_000_000, 120_000_000])
      return [{ match: writeMatch(dice, ground, ['CC', 'AQA']), action: { kind, delayNs } }]
    }
    case 'read-value': {
      // Not ready, with and without a fatal status; ready with a fatal status; removed.
      const value = dice.pick([0, 2, 3, 0xffff_ffff])
      const match: FaultMatch = { register: 'CSTS', nth: dice.int(1, 12), every: 1, times: dice.int(1, 3) }
      return [{ match, action: { kind, value } }]
    }
    case 'ready-never-rises':
    case 'ready-never-falls':
      return [{ match: { nth: dice.int(1, 3) }, action: { kind } }]
    case 'fatal-status':
    case 'remove-device':
    case 'surprise-reset':
      return [{ match: moment(dice, ground, atBoundary), action: { kind } }]
    case 'throttle': {
      const action = { kind, factor: dice.int(2, 20), forNs: dice.pick([1_000_000, 1_000_000_000]) }
      return [{ match: moment(dice, ground, false), action }]
    }
    case 'stale-completion': {
      // The fault needs `back` earlier completions, so most rules match later commands of the same queue.
      const qid = dice.int(0, ground.queues)
      const match = dice.chance(0.6)
        ? { qid, nth: dice.int(2, 10), every: dice.int(1, 5) }
        : repeatedly(dice, moment(dice, ground, false))
      return [{ match, action: { kind, qid, back: dice.int(1, 4) } }]
    }
    case 'async-event': {
      // Error, SMART / Health, Notice and I/O Command Set events; three log pages that exist and one that does not.
      const action = {
        kind,
        aet: dice.pick([0, 1, 2, 2, 6]),
        aei: dice.pick([0, 0, 1, 3]),
        lid: dice.pick([1, 2, 4, 0x70]),
      }
      return [{ match: repeatedly(dice, moment(dice, ground, false)), action }]
    }
    case 'detach-namespace':
    case 'attach-namespace': {
      const { nsid } = dice.pick(ground.namespaces)
      const first = dice.int(1, 12)
      const detach = { match: { qid: 1, nth: first }, action: { kind: 'detach-namespace', nsid } } as const
      if (kind === 'detach-namespace') return [detach]
      return [detach, { match: { qid: 0, nth: 16 + dice.int(1, 8) }, action: { kind, nsid } }]
    }
    case 'resize-namespace': {
      const { nsid, blocks } = dice.pick(ground.namespaces)
      return [{ match: moment(dice, ground, false), action: { kind, nsid, blocks: dice.int(1, blocks) } }]
    }
    default:
      return [{ match: commandMatch(dice, kind, ground), action: commandAction(dice, kind) }]
  }
}

/**
 * Registers whose writes may be lost. Without ASQ or ACQ the controller would access memory outside the rings; this
 * driver reads AQA, ASQ and ACQ back.
 */
const LOSABLE = ['CC', 'AQA', 'ASQ', 'ACQ']

function writeMatch(dice: Dice, { queues }: Ground, registers: readonly string[]): FaultMatch {
  const times = dice.int(1, 2)
  if (dice.chance(0.3)) {
    return { register: dice.pick(registers), access: 'write', nth: dice.int(1, 4), every: 1, times }
  }
  const qid = dice.chance(0.8) ? dice.int(0, queues) : undefined
  return {
    register: dice.weighted([
      [3, 'SQyTDBL'],
      [1, 'CQyHDBL'],
    ] as const),
    ...(qid !== undefined && { qid }),
    nth: dice.int(1, 20),
    every: dice.int(1, 5),
    times,
  }
}

/** Matches I/O commands and, except for faults of data, Admin commands: a driver cannot detect wrong Identify data. */
function commandMatch(dice: Dice, kind: FaultKind, { queues, namespaces }: Ground): FaultMatch {
  const isOfData = kind === 'corrupt-data' || kind === 'torn-dma' || kind === 'wrong-page'
  const often = dice.weighted<FaultMatch>([
    [4, { nth: dice.int(1, 15), times: 1 }],
    [2, { every: dice.int(1, 6), times: dice.int(1, 6) }],
    [3, { probability: dice.pick([0.05, 0.2, 0.5]), times: dice.int(1, 8) }],
  ])
  if (!isOfData && dice.chance(0.25))
    return { qid: 0, nth: dice.int(1, 30), every: dice.int(1, 9), times: dice.int(1, 3) }
  const { nsid } = dice.pick(namespaces)
  const opcode = dice.pick(isOfData ? [1, 2] : [0, 1, 1, 2, 2, 2])
  const where = dice.weighted<FaultMatch>([
    [3, { qid: dice.int(1, queues) }],
    [3, { nsid, opcode }],
    [1, { nsid, opcode: opcode || 2, lba: [dice.int(0, 20), dice.int(20, 60)] }],
  ])
  return { ...where, ...often }
}

/** Changes identifiers in bits that no valid one has: a driver cannot detect the identifier of another command. */
function commandAction(dice: Dice, kind: FaultKind): FaultAction {
  const byte = dice.int(0, dice.pick([511, 4095, 40_000]))
  switch (kind) {
    case 'delay-completion':
      return { kind, delayNs: dice.pick([5_000, 1_000_000, 60_000_000, 150_000_000, 2_000_000_000]) }
    case 'reorder-completion':
      return { kind, behind: dice.int(1, 5), atMostNs: dice.pick([100_000, 80_000_000, 1_000_000_000]) }
    case 'status':
      return dice.weighted<FaultAction>([
        [3, { kind, sct: dice.pick([0, 2]), sc: dice.pick([0x04, 0x81]), dnr: dice.chance(0.5) }],
        [2, { kind, sct: 0, sc: 0x21, more: true, crd: dice.int(0, 3) }],
        // Aborted without an Abort command.
        [1, { kind, sct: 0, sc: dice.pick([0x07, 0x08, 0x82]) }],
      ])
    case 'corrupt-cid':
      return { kind, xor: 0x8000 | dice.int(0, 0x3fff) }
    case 'corrupt-sqhd':
      return { kind, xor: dice.int(1, 0xffff) }
    case 'corrupt-sqid':
      return { kind, xor: 0x4000 | dice.int(0, 7) }
    case 'corrupt-data':
      return { kind, byte, xor: dice.chance(0.5) ? dice.int(1, 255) : [1, dice.int(0, 255), 0x80] }
    case 'torn-dma':
      return { kind, fromByte: byte, ...(dice.chance(0.5) ? { toByte: byte + dice.int(1, 5000) } : {}) }
    case 'wrong-page':
      return { kind, page: dice.int(0, 1), to: dice.int(2, 3) }
    case 'drop-completion':
    case 'hang':
    case 'duplicate-completion':
    case 'corrupt-phase':
      return { kind }
    default:
      throw new RangeError(`${kind} is not a fault of commands`)
  }
}

/** Makes some matches repeat, except those at a time. */
function repeatedly(dice: Dice, match: FaultMatch): FaultMatch {
  return match.atNs !== undefined || dice.chance(0.5) ? match : { ...match, every: dice.int(1, 5) }
}

/** Returns a match for one moment: a time, a read of CSTS, a doorbell write or, inside the controller, a command. */
function moment(dice: Dice, { queues }: Ground, atBoundary: boolean): FaultMatch {
  return dice.weighted<() => FaultMatch>([
    [2, () => ({ atNs: dice.pick([1_000, 1_000_000, 30_000_000, 100_000_000]) * dice.int(1, 9) })],
    [1, () => ({ register: 'CSTS', access: 'read', nth: dice.int(1, 12) })],
    [2, () => ({ register: 'SQyTDBL', nth: dice.int(1, 30), qid: dice.int(0, queues) })],
    [atBoundary ? 0 : 3, () => ({ qid: dice.int(0, queues), nth: dice.int(1, 25) })],
  ])()
}
