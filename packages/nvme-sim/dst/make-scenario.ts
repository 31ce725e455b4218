import type { ProfileName } from '../src/index.js'
import { Dice } from './dice.js'
import { randomPlan } from './random-plan.js'
import {
  MOST_DATA_BYTES,
  type AdminOperation,
  type IoOperation,
  type IoOrder,
  type NamespaceShape,
  type Scenario,
  type Step,
} from './scenario.js'

const PROFILES: readonly (readonly [number, ProfileName])[] = [
  [4, 'ideal'],
  [4, 'sn740'],
  [1, 'sn530'],
  [1, 'p5800x'],
]

const OPERATIONS: readonly (readonly [number, IoOperation])[] = [
  [8, 'read'],
  [8, 'write'],
  [2, 'compare'],
  [1, 'write-zeroes'],
  [1, 'deallocate'],
  [1, 'verify'],
  [1, 'flush'],
]

const ADMIN: readonly (readonly [number, AdminOperation])[] = [
  [3, 'identify'],
  [1, 'identify-namespace'],
  [1, 'namespace-list'],
  [2, 'get-features'],
  [1, 'event'],
  [1, 'opcode'],
]

/**
 * Supported by the simulator but never drawn, so not covered by the campaign. Each would need a more elaborate host,
 * and has its own tests.
 */
export const notDrawn: readonly string[] = [
  'Copy',
  'Write Uncorrectable',
  'fused commands',
  'SGLs',
  'metadata',
  'Format NVM',
  'Namespace Management and Attachment',
  'shadow doorbells',
  'interrupts',
  'weighted round robin',
  'memory pages other than 4 KiB',
  'loss of power',
  'stale completions and forced events',
]

/** Returns everything that happens in the run of a seed. */
export function makeScenario(seed: number): Scenario {
  const dice = new Dice(seed, 'dst scenario')
  const namespaces: NamespaceShape[] = [
    { nsid: 1, blockBytes: dice.pick([512, 4096] as const), blocks: dice.int(40, 300) },
  ]
  if (dice.chance(0.4))
    namespaces.push({ nsid: dice.int(2, 5), blockBytes: dice.pick([512, 4096] as const), blocks: 64 })
  // Rings of two to a few entries wrap constantly, and fill up.
  const cqs = Array.from({ length: dice.int(1, 3) }, (_, i) => ({
    qid: i + 1,
    entries: dice.pick([2, 3, 5, 8, 16, 64]),
  }))
  const sqs = Array.from({ length: dice.int(cqs.length, 4) }, (_, i) => ({
    qid: i + 1,
    entries: dice.pick([2, 3, 4, 7, 16, 64]),
    cqid: i < cqs.length ? i + 1 : dice.pick(cqs).qid,
  }))
  const shape = {
    seed,
    profile: dice.weighted(PROFILES),
    fragmented: dice.chance(0.5),
    namespaces,
    adminEntries: dice.pick([2, 4, 8, 32]),
    cqs,
    sqs,
  }
  const faults = dice.chance(0.25) ? { rules: [] } : randomPlan(seed, shape)
  const stepDice = new Dice(seed, 'dst steps')
  const steps = Array.from({ length: stepDice.int(40, 160) }, (_, i) => randomStep(stepDice, shape, i + 1))
  return { ...shape, faults, steps }
}

type Shape = Omit<Scenario, 'faults' | 'steps'>

function randomStep(dice: Dice, shape: Shape, salt: number): Step {
  const { qid } = dice.pick(shape.sqs)
  const cqid = dice.pick([0, ...shape.cqs.map((cq) => cq.qid)])
  return dice.weighted<() => Step>([
    [60, () => ({ do: 'io', qid, order: randomOrder(dice, shape, salt), ring: dice.chance(0.7) })],
    [6, () => ({ do: 'ring', qid })],
    [20, () => ({ do: 'poll', cqid, most: dice.pick([1, 2, 1000]) })],
    [20, () => ({ do: 'pass', ns: dice.pick([1, 500, 20_000, 100_000, 1_000_000, 50_000_000]) })],
    [6, () => ({ do: 'admin', operation: dice.weighted(ADMIN) })],
    [3, () => ({ do: 'abort', qid, index: dice.int(0, 3) })],
    [4, () => ({ do: 'settle' })],
    [1.5, () => ({ do: 'recreate', cqid: dice.pick(shape.cqs).qid })],
    [1, () => ({ do: 'reset', how: dice.pick(['controller', 'controller', 'function', 'subsystem', 'shutdown']) })],
    [1.5, () => ({ do: 'mistake', qid, what: dice.pick(['tail', 'head', 'no-queue', 'read-only', 'head-ahead']) })],
  ])()
}

function randomOrder(dice: Dice, { namespaces }: Shape, salt: number): IoOrder {
  const { nsid, blockBytes, blocks: capacity } = dice.pick(namespaces)
  const most = Math.min(capacity, (MOST_DATA_BYTES / blockBytes) * dice.pick([0.0625, 0.25, 0.25, 1]))
  const blocks = dice.int(1, Math.max(1, most))
  const order: IoOrder = {
    operation: dice.weighted(OPERATIONS),
    nsid,
    slba: dice.int(0, capacity - blocks),
    blocks,
    offsetBytes: dice.chance(0.5) ? 0 : dice.int(0, 1023) * 4,
    salt,
  }
  // Comparing with anything other than the contents would nearly always fail.
  if (order.operation === 'compare' && dice.chance(0.7)) return { ...order, salt: 0 }
  if (!dice.chance(0.04)) return order
  return { ...order, flaw: dice.pick(['lba', 'nsid', 'opcode', 'prp-offset', 'prp-wild']) }
}
