import type { DriverCase } from './case.js'
import { NotApplicable } from './check.js'
import { DriverContext, type MakeEngine } from './context.js'
import type { OpenTransport } from './request.js'

/** Options of `runDriverCase`. */
export interface DriverCaseOptions {
  /** Time of the transport: `virtual` passes only during waits. Default: `wall`. */
  readonly time?: 'virtual' | 'wall'
  /** Maximum wall time of a case, in ms, whatever the transport's clock says. Default: 60,000. */
  readonly wallLimitMs?: number
  /**
   * Creates the engine of the controllers that cases open. Default: the driver's own. It is made on the transport as it
   * was opened, so that changes by a case do not affect it; cases that depend on these are skipped.
   */
  readonly engine?: MakeEngine
}

/** Result of a case on a transport. */
export type DriverCaseOutcome =
  | { readonly outcome: 'passed' }
  | { readonly outcome: 'skipped'; readonly reason: string }
  | { readonly outcome: 'failed'; readonly error: Error }

const WALL_LIMIT_MS = 60_000

/**
 * Runs one case. `open` is called for each transport that it needs, usually one; each is closed. The data on the
 * namespaces is lost. A case that exceeds its time limit fails, and what it opened is left open.
 */
export async function runDriverCase(
  each: DriverCase,
  open: OpenTransport,
  options: DriverCaseOptions = {},
): Promise<DriverCaseOutcome> {
  const { time = 'wall', wallLimitMs = WALL_LIMIT_MS, engine } = options
  if (each.time === 'virtual' && time === 'wall') {
    return { outcome: 'skipped', reason: 'it takes too long in wall time, or checks exact times' }
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
      reject(new Error(`the case did not end within ${limitMs / 1000} s of wall time`))
    }, limitMs)
  })
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
