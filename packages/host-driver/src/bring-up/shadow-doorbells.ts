import { DoorbellBufferConfig, IdentifyController, sqTailDoorbell } from '@gpunvme/nvme-spec'
import type { ShadowDoorbell } from '@gpunvme/nvme-spec/transport'
import { hostBytes } from '../memory/reachable.js'
import { UnsupportedControllerError } from './ready.js'
import type { Session, SetupStep } from './session.js'
import { unlessRefused } from './unless-refused.js'

/**
 * Gives a controller that looks at host memory by itself its two pages of doorbells (Base 2.3 §5.3.5). They hold until
 * the next reset, so they are given again after each. The Admin queue keeps to its registers, as it does under Linux:
 * controllers that exist take both from it.
 */
export class ShadowDoorbells implements SetupStep {
  private pages: Omit<ShadowDoorbell, 'offsetBytes'> | undefined

  async apply(session: Session): Promise<void> {
    if (!isOffered(session)) return
    const pages = (this.pages ??= allocate(session))
    for (const page of [pages.shadow, pages.eventIdx]) {
      hostBytes(page).fill(0)
      page.forDevice(0, page.lengthBytes)
    }
    const addresses = { PRP1: pages.shadow.iovaAt(0), PRP2: pages.eventIdx.iovaAt(0) }
    const taken = await unlessRefused(session, 'shadow doorbells', () =>
      session.admin.execute(DoorbellBufferConfig, addresses),
    )
    if (taken) session.shadow = pages
    // Queues that were made for shadow doorbells would never be heard without them.
    else if (session.shadow !== undefined) {
      const reason = 'after a reset it refuses the shadow doorbells that it took before'
      throw new UnsupportedControllerError(session.transport.name, reason)
    }
  }
}

/** Whether the controller has the command, and one page holds the doorbells of every queue that will be asked for. */
function isOffered({ identity, limits, options }: Session): boolean {
  const { OACS } = IdentifyController.view(identity.raw)
  const beyondLast = sqTailDoorbell(options.queues + 2, limits.dstrd) - sqTailDoorbell(0, limits.dstrd)
  return IdentifyController.OACS.DBCS.of(OACS) === 1 && beyondLast <= limits.pageBytes
}

function allocate({ pool, limits }: Session): Omit<ShadowDoorbell, 'offsetBytes'> {
  const page = () => pool.alloc(limits.pageBytes, { contiguous: true, alignBytes: limits.pageBytes })
  return { shadow: page(), eventIdx: page() }
}
