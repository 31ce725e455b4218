import { randomFaults } from './random-faults.js'
import { CREATED, type BlockCall, type Management, type NamespaceShape, type Scenario, type Step } from './scenario.js'
import { Dice } from '@gpunvme/nvme-sim/dst'

const MS = 1_000_000

/** Maximum length of the data of a plan. */
export const MAX_PLAN_BYTES = 128 * 1024

/** Features of the driver and faults that no scenario covers. */
export const uncoveredFeatures: readonly string[] = [
  'wrong Identify data and log pages (corrupt-data of Admin commands), which a driver cannot detect',
  'identifiers of other commands in flight (corrupt-cid, corrupt-sqid)',
  'success reported for Admin commands that had no effect (status 0/00 with QID 0)',
  'fused commands and weighted round robin, which the driver does not use',
  'Sanitize, firmware and raw commands (submitAdmin, submitIo)',
  'a transport whose accesses throw',
]

/** Returns the scenario of a seed. */
export function makeScenario(seed: number): Scenario {
  const dice = new Dice(seed, 'driver dst scenario')
  const blockBytes = () => dice.pick([512, 4096] as const)
  const namespaces: NamespaceShape[] = [{ nsid: dice.int(1, 3), blockBytes: blockBytes(), blocks: dice.int(40, 300) }]
  if (dice.chance(0.3)) namespaces.push({ nsid: dice.int(4, 6), blockBytes: blockBytes(), blocks: 64 })
  const queues = dice.int(1, 4)
  const isShared = dice.chance(0.3)
  const hasEntries = dice.chance(0.5)
  const options = {
    queues,
    queueDepth: dice.pick([1, 2, 3, 7, 16, 32]),
    ...(hasEntries && { queueEntries: dice.pick([2, 3, 5, 8, 13, 64]) }),
    ...(isShared && { completionQueues: dice.int(1, queues) }),
    ...(dice.chance(0.2) && { sgl: false }),
    ...(dice.chance(0.2) && { shadowDoorbells: true }),
    ...(dice.chance(0.2) && { interrupts: true }),
    maxTransferBytes: dice.pick([4096, 8192, 65536, 1024 * 1024]),
    readyTimeoutNs: dice.pick([60, 200]) * MS,
    commandTimeoutNs: dice.pick([30, 100]) * MS,
    recovery: {
      abortNs: dice.pick([10, 100]) * MS,
      queuesNs: dice.pick([20, 200]) * MS,
      restartNs: dice.pick([100, 400]) * MS,
    },
  }
  const stepDice = new Dice(seed, 'driver dst steps')
  // Seeds with a single kind of fault measure its delay, so they contain no other slow step.
  const mixes = seed % 2 === 0
  const further: Further = {
    manages: mixes && dice.chance(0.4),
    resets: mixes && dice.chance(0.25),
    losesPower: mixes && dice.chance(0.25),
    ...(dice.chance(0.15) && { withMetadata: 7 }),
  }
  const controller: Scenario['controller'] = {
    profile: dice.weighted([
      [4, 'ideal'],
      [3, 'sn740'],
      [1, 'sn530'],
      [1, 'p5800x'],
    ] as const),
    maxEntries: dice.pick([2, 3, 16, 100, 1024]),
    dstrd: dice.pick([0, 0, 1, 4]),
    mpsmin: dice.pick([0, 0, 1, 4]),
    mdts: dice.pick([0, 1, 2, 5]),
    ioQueuePairs: dice.pick([1, 2, 3, 16]),
    fragmented: dice.chance(0.6),
    ...(dice.chance(0.2) && { hasSgl: false }),
  }
  const ground = { queues: Math.min(queues, controller.ioQueuePairs), namespaces }
  return {
    seed,
    controller,
    namespaces,
    ...(further.withMetadata !== undefined && { withMetadata: further.withMetadata }),
    ...(further.manages && { manages: true }),
    options,
    timeoutNs: dice.pick([20, 50, 100]) * MS,
    ...randomFaults(seed, ground),
    watches: dice.chance(0.5),
    steps: Array.from({ length: stepDice.int(8, 30) }, (_, i) => randomStep(stepDice, namespaces, further, i + 1)),
  }
}

/** Kinds of steps, other than reads and writes, that a scenario may contain. */
interface Further {
  readonly manages: boolean
  readonly resets: boolean
  readonly losesPower: boolean
  readonly withMetadata?: number
}

/** Size of the namespace that the host creates, in blocks. */
export const CREATED_BLOCKS = 64

function randomStep(dice: Dice, namespaces: readonly NamespaceShape[], further: Further, salt: number): Step {
  const created: NamespaceShape = { nsid: CREATED, blockBytes: 4096, blocks: CREATED_BLOCKS }
  const namespace = dice.pick(further.manages ? [...namespaces, created] : namespaces)
  const { nsid } = namespace
  const onlyIf = (is: boolean, weight: number) => (is ? weight : 0)
  return dice.weighted<() => Step>([
    [12, () => randomPlan(dice, namespace, 'write', salt)],
    [10, () => randomPlan(dice, namespace, 'read', salt)],
    [3, () => ({ do: 'read', nsid, ...extent(dice, namespace, 16) })],
    [3, () => ({ do: 'flush', nsid })],
    [7, () => ({ do: 'blocks', nsid, call: randomBlockCall(dice, namespace) })],
    [1, () => ({ do: 'smart' })],
    [5, () => ({ do: 'pass', ns: dice.pick([1000, 100_000, 3_000_000, 40_000_000]) })],
    [5, () => ({ do: 'join' })],
    [0.7, () => ({ do: 'close' })],
    [onlyIf(further.withMetadata !== undefined, 2), () => ({ do: 'refused' })],
    [onlyIf(further.manages, 14), () => ({ do: 'manage', management: randomManagement(dice, namespaces) })],
    [onlyIf(further.resets, 2), () => ({ do: 'reset' })],
    [onlyIf(further.losesPower, 2), () => ({ do: 'power' })],
  ])()
}

function randomBlockCall(dice: Dice, namespace: NamespaceShape): BlockCall {
  const some = () => extent(dice, namespace, dice.pick([1, 8, 30]))
  return dice.weighted<() => BlockCall>([
    [
      4,
      () => {
        // The driver rejects a copy whose sources overlap the destination.
        const half = namespace.blocks >> 1
        const lower = { ...namespace, blocks: half }
        const sources = Array.from({ length: dice.int(1, 3) }, () => extent(dice, lower, dice.pick([1, 8])))
        const total = sources.reduce((sum, { blocks }) => sum + blocks, 0)
        return { call: 'copy', sources, to: half + dice.int(0, Math.max(0, namespace.blocks - half - total)) }
      },
    ],
    [2, () => ({ call: 'writeZeroes', range: some(), deallocate: dice.chance(0.5), fua: dice.chance(0.3) })],
    [2, () => ({ call: 'deallocate', ranges: Array.from({ length: dice.int(1, 3) }, some) })],
    [1, () => ({ call: 'verify', range: some() })],
    [
      2,
      () => {
        const range = some()
        return { call: 'compare', range, ...(dice.chance(0.5) && { differsAt: dice.int(0, range.blocks - 1) }) }
      },
    ],
  ])()
}

function randomManagement(dice: Dice, namespaces: readonly NamespaceShape[]): Management {
  const lbaFormat = dice.pick([0, 1] as const)
  const { nsid } = dice.pick(namespaces)
  return dice.weighted<Management>([
    [4, { what: 'create', lbaFormat }],
    [6, { what: 'attach', nsid: dice.chance(0.9) ? CREATED : nsid }],
    [1.5, { what: 'detach', nsid: dice.chance(0.7) ? CREATED : nsid }],
    [1, { what: 'delete' }],
    [3, { what: 'format', nsid: dice.chance(0.3) ? CREATED : nsid, lbaFormat }],
  ])
}

function randomPlan(dice: Dice, namespace: NamespaceShape, operation: 'read' | 'write', salt: number): Step {
  const extents = Array.from({ length: dice.int(1, 6) }, () => extent(dice, namespace, dice.pick([1, 4, 20, 40])))
  const max = MAX_PLAN_BYTES / namespace.blockBytes
  let left = max
  const fitting = extents.filter(({ blocks }) => (left -= blocks) >= 0)
  return {
    do: 'plan',
    operation,
    nsid: namespace.nsid,
    extents: fitting.length > 0 ? fitting : [{ slba: 0, blocks: 1 }],
    shiftBytes: dice.chance(0.5) ? 0 : dice.int(0, 1023) * 4,
    salt,
    ...(dice.chance(0.15) && { abortAfterNs: dice.pick([0, 10_000, 1_000_000, 60_000_000]) }),
    ...(dice.chance(0.15) && { isScattered: true }),
  }
}

function extent(dice: Dice, { blocks }: NamespaceShape, max: number): { slba: number; blocks: number } {
  const count = dice.int(1, Math.min(max, blocks))
  return { slba: dice.int(0, blocks - count), blocks: count }
}
