import { notApplicable, outcomeOf, WALL_LIMIT_MS, withinWall, type CaseOutcome } from '@gpunvme/nvme-sim/case-kit'
import type { DriverCase } from './case.js'
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

/**
 * Runs one case. `open` is called for each transport that it needs, usually one; each is closed. The data on the
 * namespaces is lost. A case that exceeds its time limit fails, and what it opened is left open.
 */
export function runDriverCase(
  each: DriverCase,
  open: OpenTransport,
  options: DriverCaseOptions = {},
): Promise<CaseOutcome> {
  const { time = 'wall', wallLimitMs = WALL_LIMIT_MS, engine } = options
  return outcomeOf(each, async () => {
    if (each.time === 'virtual' && time === 'wall')
      notApplicable('it takes too long in wall time, or checks exact times')
    if (engine !== undefined && each.ownEngine !== undefined) notApplicable(each.ownEngine)
    await withinWall('the case', wallLimitMs, runToItsEnd(each, open, engine))
  })
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
