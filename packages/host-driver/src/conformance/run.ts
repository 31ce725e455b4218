import type { DriverCase } from './case.js'
import { NotApplicable } from './check.js'
import { DriverContext, type MakeEngine } from './context.js'
import type { OpenTransport } from './request.js'

/** How driver cases are run. */
export interface DriverCaseOptions {
  /** What the transport's time is: `virtual` passes only where somebody waits; `wall` when not given. */
  readonly time?: 'virtual' | 'wall'
  /** How long a case may take by the wall, whatever the transport's clock says; 60,000 ms when not given. */
  readonly wallLimitMs?: number
  /**
   * Who submits I/O of the controllers that cases open; the driver's own engine when not given. It is made on the
   * transport that was opened, so that what a case wraps around it does not reach the engine: cases that live by that
   * say so, and are skipped.
   */
  readonly engine?: MakeEngine
}

/** How a case ended on a transport. */
export type DriverCaseOutcome =
  | { readonly outcome: 'passed' }
  | { readonly outcome: 'skipped'; readonly reason: string }
  | { readonly outcome: 'failed'; readonly error: Error }

const WALL_LIMIT_MS = 60_000

/**
 * Runs one case. `open` is called for each transport that it needs, which is mostly one; each is closed. What the
 * namespaces hold is lost. A case that does not end within its time is failed and left alone, with what it has opened.
 */
export async function runDriverCase(
  each: DriverCase,
  open: OpenTransport,
  options: DriverCaseOptions = {},
): Promise<DriverCaseOutcome> {
  const { time = 'wall', wallLimitMs = WALL_LIMIT_MS, engine } = options
  if (each.time === 'virtual' && time === 'wall') {
    return { outcome: 'skipped', reason: 'it takes more time than anybody waits by the wall, or is about exact times' }
  }
  if (engine !== undefined && each.ownEngine !== undefined) return { outcome: 'skipped', reason: each.ownEngine }
  try {
    await withinWall(wallLimitMs, runToItsEnd(each, open, engine))
    return { outcome: 'passed' }
  } catch (cause) {
    if (cause instanceof NotApplicable) return { outcome: 'skipped', reason: cause.message }
    const what = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause)
    return { outcome: 'failed', error: new Error(`${each.id}: ${each.title} (${each.spec})\n${what}`, { cause }) }
  }
}

async function runToItsEnd(each: DriverCase, open: OpenTransport, engine?: MakeEngine): Promise<void> {
  const context = new DriverContext(each, open, engine)
  try {
    await each.run(context)
    await context.finish()
  } finally {
    await context.release()
  }
}

async function withinWall(limitMs: number, work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`the case did not end within ${limitMs / 1000} s by the wall`))
    }, limitMs)
  })
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
