import type { Plan } from '@gpunvme/nvme-spec/transport'
import type { Addresses } from './addresses.js'
import { inFlight, type Shape } from './shape.js'

/** Plans in flight: while the outcome of one is processed, the next keeps the queues full. */
export const PLANS = 2

/** Minimum bytes of a plan with few commands, so that the cost of submitting it is negligible. */
const PLAN_BYTES = 8 * 1024 * 1024
const MAX_COMMANDS = 1024
/** Limit, so that a plan with depth 1 does not take longer than the measurement. */
const MAX_LAPS = 64

/** Number of commands per plan: a multiple of the commands in flight, so that one plan fills the queues. */
export function commandsPerPlan(shape: Shape): number {
  const together = inFlight(shape)
  const wanted = Math.min(MAX_COMMANDS, MAX_LAPS * together, Math.floor(PLAN_BYTES / shape.blockBytes))
  return together * Math.max(1, Math.floor(wanted / together))
}

/** Returns the memory of a ring, in bytes. */
export function ringBytes(shape: Shape): number {
  return PLANS * commandsPerPlan(shape) * shape.blockBytes
}

/**
 * Plans that are refilled while others run: nothing is allocated during the measurement. Each has its own memory, so
 * that a slow command of one never writes to data of a later one.
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

  /** Fills a plan with its next commands. It must not be in flight. */
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
