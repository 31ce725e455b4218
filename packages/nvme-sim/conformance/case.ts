import type { Transport } from '@gpunvme/nvme-spec/transport'
import { learnFacts, type ControllerFacts } from './facts.js'
import { CaseHost, type HostOptions } from './host.js'
import {
  notApplicable,
  outcomeOf,
  WALL_LIMIT_MS,
  withinWall,
  type CaseIdentity,
  type CaseOutcome,
} from './kit/index.js'

/**
 * One requirement on a controller, and the check for it.
 *
 * Cases cite Base 2.3, the revision that was read in full. Of 2.1, which the simulator's diagnostics cite, only parts
 * were read. Where a case relies on them, they say the same under other section numbers. A requirement known to be
 * newer than a controller's VS is skipped; there may be others.
 */
export interface ControllerCase extends CaseIdentity {
  /** Returns why the case cannot be run on a controller; undefined if it can. */
  readonly needs?: (facts: ControllerFacts) => string | undefined
  /**
   * The case stages several queues, rings them one after the other, and judges the result as if they had been rung at
   * once. This is valid only if no time passes between two writes.
   */
  readonly ringsAtOnce?: true
  /**
   * Runs the case on a disabled controller; cleanup is automatic. @throws CheckFailed if the requirement is not met.
   */
  readonly run: (host: CaseHost) => Promise<void>
}

/** Options of running cases. */
export interface CaseOptions extends HostOptions {
  /**
   * True if the controller proceeds while the host does other things, as hardware does: cases that need it to stand
   * still are skipped.
   */
  readonly timeRuns?: boolean
  /**
   * Wall-clock limit of each step of a case (`open`, the case itself, `close`), independent of the transport's clock.
   * Default: 60,000 ms.
   */
  readonly wallLimitMs?: number
}

/**
 * Runs one case. `open` is called twice, the first time to identify the controller. Each time it must return a
 * transport with a controller in its power-on state, or at least disabled. The content of namespace 1 may be lost.
 */
export function runControllerCase(
  each: ControllerCase,
  open: () => Promise<Transport>,
  options?: CaseOptions,
): Promise<CaseOutcome> {
  return outcomeOf(each, async () => {
    if (each.ringsAtOnce && options?.timeRuns)
      notApplicable('time passes between two doorbells, and the case takes them as one')
    const facts = await withHost(open, undefined, options, learnFacts)
    const reason = each.needs?.(facts)
    if (reason !== undefined) notApplicable(reason)
    await withHost(open, facts, options, each.run)
  })
}

async function withHost<T>(
  open: () => Promise<Transport>,
  facts: ControllerFacts | undefined,
  options: CaseOptions | undefined,
  use: (host: CaseHost) => Promise<T>,
): Promise<T> {
  const limitMs = options?.wallLimitMs ?? WALL_LIMIT_MS
  const transport = await opened(open, limitMs)
  try {
    const host = new CaseHost(transport, facts, options)
    try {
      return await withinWall('the case', limitMs, useHost(host, use))
    } finally {
      host.giveUp()
    }
  } finally {
    await withinWall('close()', limitMs, transport.close())
  }
}

/** Returns the opened transport. A transport that opens after the limit is closed. */
async function opened(open: () => Promise<Transport>, limitMs: number): Promise<Transport> {
  const opening = open()
  try {
    return await withinWall('open()', limitMs, opening)
  } catch (error) {
    opening.then((late) => late.close()).catch(() => undefined)
    throw error
  }
}

async function useHost<T>(host: CaseHost, use: (host: CaseHost) => Promise<T>): Promise<T> {
  try {
    const result = await use(host)
    host.checkMemory()
    return result
  } finally {
    await host.release()
  }
}
