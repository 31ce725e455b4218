import type { Transport } from '@gpunvme/nvme-spec/transport'
import { NotApplicable } from './check.js'
import { learnFacts, type ControllerFacts } from './facts.js'
import { CaseHost, type HostOptions } from './host.js'

/** One requirement of a controller, and how it shows. */
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
    const facts = await withHost(await open(), undefined, options, learnFacts)
    const reason = needs?.(facts)
    if (reason !== undefined) return { outcome: 'skipped', reason }
    await withHost(await open(), facts, options, run)
    return { outcome: 'passed' }
  } catch (cause) {
    if (cause instanceof NotApplicable) return { outcome: 'skipped', reason: cause.message }
    const what = cause instanceof Error ? cause.message : String(cause)
    return { outcome: 'failed', error: new Error(`${id}: ${title} (${spec})\n${what}`, { cause }) }
  }
}

async function withHost<T>(
  transport: Transport,
  facts: ControllerFacts | undefined,
  options: HostOptions | undefined,
  use: (host: CaseHost) => Promise<T>,
): Promise<T> {
  try {
    const host = new CaseHost(transport, facts, options)
    try {
      const result = await use(host)
      host.checkMemory()
      return result
    } finally {
      await host.release()
    }
  } finally {
    await transport.close()
  }
}
