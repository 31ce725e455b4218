import type { Transport } from '@gpunvme/nvme-spec/transport'
import { learnFacts, type ControllerFacts } from './facts.js'
import { CaseHost, type HostOptions } from './host.js'
import {
  notApplicable,
  outcomeOf,
  WALL_LIMIT_MS,
  withWallLimit,
  type CaseIdentity,
  type CaseOutcome,
} from './kit/index.js'

/**
 * A requirement on a controller, and the check for it.
 *
 * Cases cite Base 2.3, which was read in full. Of Base 2.1, which the simulator's diagnostics cite, only parts were
 * read; the parts on which cases rely are equal, with other section numbers. A requirement known to be newer than a
 * controller's VS is skipped; there may be others that are not known.
 */
export interface ControllerCase extends CaseIdentity {
  /** Returns the reason why a controller does not support the case; undefined if it does. */
  readonly needs?: (facts: ControllerFacts) => string | undefined
  /**
   * Whether the case writes several doorbells in succession and requires them to take effect at the same time. This is
   * valid only if no time passes between two writes.
   */
  readonly ringsSimultaneously?: true
  /**
   * Runs the case on a disabled controller; cleanup is automatic. @throws CheckFailed if the requirement is not met.
   */
  readonly run: (host: CaseHost) => Promise<void>
}

/** Options of running cases. */
export interface CaseOptions extends HostOptions {
  /**
   * Whether the controller executes commands while the host does other things, as hardware does. Skips cases with
   * `ringsSimultaneously`.
   */
  readonly timeRuns?: boolean
  /**
   * Wall-clock limit of each step of a case (`open`, the case itself, `close`), independent of the transport's clock.
   * Default: 60,000 ms.
   */
  readonly wallLimitMs?: number
}

/**
 * Runs one case. Calls `open` twice, the first time to identify the controller. `open` must return a transport whose
 * controller is in the power-on state, or at least disabled. The content of namespace 1 may be lost.
 */
export function runControllerCase(
  each: ControllerCase,
  open: () => Promise<Transport>,
  options?: CaseOptions,
): Promise<CaseOutcome> {
  return outcomeOf(each, async () => {
    if (each.ringsSimultaneously && options?.timeRuns)
      notApplicable('time passes between two doorbell writes, which the case requires to be simultaneous')
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
      return await withWallLimit('the case', limitMs, useHost(host, use))
    } finally {
      host.giveUp()
    }
  } finally {
    await withWallLimit('close()', limitMs, transport.close())
  }
}

/** Returns the opened transport. Closes a transport that opens after the time limit. */
async function opened(open: () => Promise<Transport>, limitMs: number): Promise<Transport> {
  const opening = open()
  try {
    return await withWallLimit('open()', limitMs, opening)
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
