import type { Plan } from '@gpunvme/nvme-spec/transport'
import type { Addresses } from './addresses.js'
import { inFlight, type Shape } from './shape.js'

/** As many plans are under way: while the outcome of one is looked at, the next keeps the queues full. */
export const PLANS = 2

/** What a plan carries where few commands would: handing over a plan then costs little beside carrying it out. */
const PLAN_BYTES = 8 * 1024 * 1024
const MOST_COMMANDS = 1024
/** And not so many that a plan of one command at a time takes longer than what is to be measured. */
const MOST_LAPS = 64

/** How many commands each plan has: a multiple of what may be in flight, so that one alone fills the queues. */
export function commandsPerPlan(shape: Shape): number {
  const together = inFlight(shape)
  const wanted = Math.min(MOST_COMMANDS, MOST_LAPS * together, Math.floor(PLAN_BYTES / shape.blockBytes))
  return together * Math.max(1, Math.floor(wanted / together))
}

/** What the memory of a ring must hold. */
export function ringBytes(shape: Shape): number {
  return PLANS * commandsPerPlan(shape) * shape.blockBytes
}

/**
 * Plans that are filled again and again while others are carried out: nothing is allocated while time is taken. Each
 * has a part of the memory of its own, so that a slow command of one never writes where a later one's data lie.
 */
export class PlanRing {
  readonly plans: readonly Plan[]
  private filled: Plan | undefined
  private readonly jobs: number
  private readonly addresses: Addresses

  constructor(shape: Shape, target: { readonly nsid: number; readonly blockBytes: number }, addresses: Addresses) {
    this.jobs = shape.jobs
    this.addresses = addresses
    this.plans = Array.from({ length: PLANS }, (_, index) => emptyPlan(shape, target, index))
  }

  /** The plan that was filled last. */
  get last(): Plan {
    return this.filled ?? this.plans[0]!
  }

  /** Gives the plan its next commands. It must not be under way. */
  fill(plan: Plan): void {
    const { addresses, jobs } = this
    this.filled = plan
    for (let command = 0; command < plan.commands; command++) plan.slba[command] = addresses.take(command % jobs)
  }
}

function emptyPlan(shape: Shape, { nsid, blockBytes }: { nsid: number; blockBytes: number }, index: number): Plan {
  const commands = commandsPerPlan(shape)
  const firstByte = index * commands * shape.blockBytes
  return {
    operation: shape.rw === 'write' ? 'write' : 'read',
    nsid,
    blockBytes,
    commands,
    slba: new Float64Array(commands),
    blocks: new Uint32Array(commands).fill(shape.blockBytes / blockBytes),
    offsetBytes: Float64Array.from({ length: commands }, (_, command) => firstByte + command * shape.blockBytes),
    queue: Uint16Array.from({ length: commands }, (_, command) => command % shape.jobs),
  }
}
