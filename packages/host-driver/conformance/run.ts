import { notApplicable, outcomeOf, WALL_LIMIT_MS, withWallLimit, type CaseOutcome } from '@gpunvme/nvme-sim/case-kit'
import type { DriverCase } from './case.js'
import { DriverContext, type Implementations } from './context.js'
import type { OpenTransport } from './request.js'

/** Options of `runDriverCase`. */
export interface DriverCaseOptions extends Implementations {
  /** Clock of the transport: `virtual` if time passes only during waits. Default: `wall`. */
  readonly time?: 'virtual' | 'wall'
  /** Time limit of a case in wall time, in ms, independent of the transport's clock. Default: 60,000. */
  readonly wallLimitMs?: number
}

/**
 * Runs one case. Calls `open` for each transport that the case needs, usually one, and closes these transports. The
 * data on the namespaces is lost. A case that exceeds its time limit fails, and its transports remain open.
 */
export function runDriverCase(
  each: DriverCase,
  open: OpenTransport,
  options: DriverCaseOptions = {},
): Promise<CaseOutcome> {
  const { time = 'wall', wallLimitMs = WALL_LIMIT_MS } = options
  return outcomeOf(each, async () => {
    if (each.time === 'virtual' && time === 'wall')
      notApplicable('the case takes too long in wall time, or checks exact times')
    if (options.engine !== undefined && each.ownEngine !== undefined) notApplicable(each.ownEngine)
    await withWallLimit('the case', wallLimitMs, runToItsEnd(each, open, options))
  })
}

async function runToItsEnd(each: DriverCase, open: OpenTransport, judged: Implementations): Promise<void> {
  const context = new DriverContext(each, open, judged)
  try {
    await each.run(context)
    await context.finish()
  } finally {
    await context.release()
  }
}
