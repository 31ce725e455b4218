import type { Transport } from '@gpunvme/nvme-spec/transport'
import { NotApplicable } from './check.js'
import { learnFacts, type ControllerFacts } from './facts.js'
import { CaseHost, type HostOptions } from './host.js'
import { WALL_LIMIT_MS, withinWall } from './wall.js'

/**
 * One requirement of a controller, and how it shows.
 *
 * Cases cite Base 2.3, the revision whose text was read in full. Of 2.1, which the simulator's diagnostics cite, only
 * parts were read: those say the same where a case rests on them, under other section numbers. A requirement that is
 * known to be newer than a controller's VS is not asked of it; that there are no others is not known.
 */
export interface ControllerCase {
  readonly id: string
  /** The requirement, in the specification's words. */
  readonly title: string
  /** Where it stands, with the revision that was read. */
  readonly spec: string
  /** Why it cannot be run on such a controller; undefined where it can. */
  readonly needs?: (facts: ControllerFacts) => string | undefined
  /**
   * Stages several queues and rings them one after the other, and judges what comes of it as if they had been rung at
   * once: true only where no time passes between two writes.
   */
  readonly ringsAtOnce?: true
  /** Finds the controller disabled. What it leaves behind is cleared away. @throws CheckFailed for a broken requirement. */
  readonly run: (host: CaseHost) => Promise<void>
}

/** How cases are run. */
export interface CaseOptions extends HostOptions {
  /** The controller goes on while the host does other things, as hardware does: cases that need it still are skipped. */
  readonly timeRuns?: boolean
  /**
   * How long each step of a case may take by the wall, whatever the transport's clock says: `open`, what the case does,
   * `close`; 60,000 ms when not given.
   */
  readonly wallLimitMs?: number
}

/** How a case ended on a controller. */
export type CaseOutcome =
  | { readonly outcome: 'passed' }
  | { readonly outcome: 'skipped'; readonly reason: string }
  | { readonly outcome: 'failed'; readonly error: Error }

/**
 * Runs one case. `open` is called twice, once to learn what the controller is: each time it gives a transport whose
 * controller is as after power on, or at least disabled. The content of namespace 1 may be lost.
 */
export async function runControllerCase(
  { id, title, spec, needs, ringsAtOnce, run }: ControllerCase,
  open: () => Promise<Transport>,
  options?: CaseOptions,
): Promise<CaseOutcome> {
  if (ringsAtOnce && options?.timeRuns) {
    return { outcome: 'skipped', reason: 'time passes between two doorbells, and the case takes them as one' }
  }
  try {
    const facts = await withHost(open, undefined, options, learnFacts)
    const reason = needs?.(facts)
    if (reason !== undefined) return { outcome: 'skipped', reason }
    await withHost(open, facts, options, run)
    return { outcome: 'passed' }
  } catch (cause) {
    if (cause instanceof NotApplicable) return { outcome: 'skipped', reason: cause.message }
    const what = cause instanceof Error ? cause.message : String(cause)
    return { outcome: 'failed', error: new Error(`${id}: ${title} (${spec})\n${what}`, { cause }) }
  }
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

/** The transport; one that comes too late is closed by whoever still waits for it: nobody else will. */
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
