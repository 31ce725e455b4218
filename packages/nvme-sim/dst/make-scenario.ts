import type { ProfileName } from '../src/index.js'
import { Dice } from './dice.js'
import { SPARE_BYTES } from './manager.js'
import { randomPlan } from './random-plan.js'
import { randomFused, randomOrder } from './random-order.js'
import type { AdminOperation, Management, NamespaceShape, Scenario, Step } from './scenario.js'
import { CREATED } from './spaces.js'

const PROFILES: readonly (readonly [number, ProfileName])[] = [
  [4, 'ideal'],
  [4, 'sn740'],
  [1, 'sn530'],
  [1, 'p5800x'],
]

const ADMIN: readonly (readonly [number, AdminOperation])[] = [
  [3, 'identify'],
  [1, 'identify-namespace'],
  [1, 'namespace-list'],
  [2, 'get-features'],
  [2, 'event'],
  [1, 'opcode'],
]

/**
 * Features of the simulator that no scenario covers. Each would require a more elaborate host, and has its own tests.
 */
export const uncoveredFeatures: readonly string[] = [
  'memory pages other than 4 KiB',
  'the interrupt pin and masked vectors',
  'Copy and Compare commands beyond the limits of the controller',
  'Format NVM of all namespaces, secure erase',
  'Namespace Write Protection',
  'loss of power with a file as media',
]

/** Returns the scenario of a seed. */
export function makeScenario(seed: number): Scenario {
  const dice = new Dice(seed, 'dst scenario')
  const namespaces = [randomNamespace(dice, 1, dice.int(40, 300))]
  if (dice.chance(0.4)) namespaces.push(randomNamespace(dice, dice.int(2, 5), 64))
  // Priorities can be checked only if nothing else changes the order in which commands are fetched.
  const arbitrates = dice.chance(0.06)
  // Small rings wrap and fill up often.
  const cqs = Array.from({ length: dice.int(1, 3) }, (_, i) => ({
    qid: i + 1,
    entries: arbitrates ? 64 : dice.pick([2, 3, 5, 8, 16, 64]),
    interrupts: dice.chance(0.7),
  }))
  const sqs = Array.from({ length: dice.int(arbitrates ? 3 : cqs.length, 4) }, (_, i) => ({
    qid: i + 1,
    entries: arbitrates ? dice.pick([16, 64]) : dice.pick([2, 3, 4, 7, 16, 64]),
    cqid: i < cqs.length ? i + 1 : dice.pick(cqs).qid,
    priority: dice.int(0, 3),
  }))
  const shape = {
    seed,
    profile: arbitrates ? ('ideal' as const) : dice.weighted(PROFILES),
    fragmented: dice.chance(0.5),
    namespaces,
    ...(!arbitrates && dice.chance(0.4) && { spareBytes: SPARE_BYTES }),
    adminEntries: arbitrates ? 32 : dice.pick([2, 4, 8, 32]),
    cqs,
    sqs,
    ...(!arbitrates && dice.chance(0.15) && { shadow: true }),
    ...(dice.chance(0.2) && { interrupts: { threshold: dice.pick([0, 0, 2, 7]), time: dice.pick([1, 10]) } }),
    ...(arbitrates && {
      arbitration: {
        weights: [dice.int(0, 7), dice.int(0, 7), dice.int(0, 7)] as const,
        burst: dice.pick([0, 1, 2, 7]),
      },
    }),
    ...(dice.chance(0.1) && { cacheOff: true }),
  }
  const faults = arbitrates || dice.chance(0.2) ? { rules: [] } : randomPlan(seed, shape)
  const stepDice = new Dice(seed, 'dst steps')
  const steps = Array.from({ length: stepDice.int(40, 160) }, (_, i) => randomStep(stepDice, shape, i + 1))
  return { ...shape, faults, steps }
}

type Shape = Omit<Scenario, 'faults' | 'steps'>

function randomNamespace(dice: Dice, nsid: number, blocks: number): NamespaceShape {
  const shape = { nsid, blockBytes: dice.pick([512, 4096] as const), blocks }
  if (!dice.chance(0.2)) return shape
  return { ...shape, metadataBytes: dice.pick([8, 16, 64] as const), isExtended: dice.chance(0.5) }
}

function randomStep(dice: Dice, shape: Shape, salt: number): Step {
  const { qid } = dice.pick(shape.sqs)
  const cqid = dice.pick([0, ...shape.cqs.map((cq) => cq.qid)])
  const namespaces = targetsOf(shape)
  // With fewer polls and waits, more commands are queued at once, so that arbitration determines their order.
  const arbitrates = shape.arbitration !== undefined
  const unlessArbitrating = (weight: number) => (arbitrates ? 0 : weight)
  return dice.weighted<() => Step>([
    [60, () => ({ do: 'io', qid, order: randomOrder(dice, namespaces, salt), ring: dice.chance(0.7) })],
    [unlessArbitrating(5), () => ({ do: 'fused', qid, order: randomFused(dice, namespaces, salt) })],
    [6, () => ({ do: 'ring', qid })],
    [arbitrates ? 5 : 20, () => ({ do: 'poll', cqid, max: dice.pick([1, 2, 1000]) })],
    [arbitrates ? 4 : 20, () => ({ do: 'pass', ns: dice.pick([1, 500, 20_000, 100_000, 1_000_000, 50_000_000]) })],
    [6, () => ({ do: 'admin', operation: dice.weighted(ADMIN) })],
    [3, () => ({ do: 'abort', qid, index: dice.int(0, 3) })],
    [4, () => ({ do: 'settle' })],
    [unlessArbitrating(shape.spareBytes ? 6 : 0), () => ({ do: 'manage', management: randomManagement(dice, shape) })],
    [unlessArbitrating(1.5), () => ({ do: 'recreate', cqid: dice.pick(shape.cqs).qid })],
    [
      1,
      () => ({
        do: 'reset',
        how: dice.pick(['controller', 'controller', 'function', 'subsystem', 'shutdown', 'power']),
      }),
    ],
    [
      unlessArbitrating(1.5),
      () => ({ do: 'mistake', qid, what: dice.pick(['tail', 'head', 'no-queue', 'read-only', 'head-ahead']) }),
    ],
  ])()
}

/** Returns the namespaces that steps may use: with spare capacity, also one that the host creates. */
function targetsOf({ namespaces, spareBytes }: Shape): readonly NamespaceShape[] {
  return spareBytes ? [...namespaces, { nsid: CREATED, blockBytes: 4096, blocks: 64 }] : namespaces
}

function randomManagement(dice: Dice, shape: Shape): Management {
  const nsid = dice.pick([CREATED, CREATED, ...shape.namespaces.map((each) => each.nsid)])
  return dice.weighted<Management>([
    [3, { what: 'create', format: dice.int(0, 7), isTooLarge: dice.chance(0.1) }],
    [4, { what: 'attach', nsid: dice.chance(0.7) ? CREATED : nsid }],
    [1.5, { what: 'detach', nsid }],
    [1, { what: 'delete' }],
    [3, { what: 'format', nsid, format: dice.chance(0.9) ? dice.int(0, 7) : 8, isExtended: dice.chance(0.3) }],
    [1, { what: 'format-busy', nsid }],
  ])
}
