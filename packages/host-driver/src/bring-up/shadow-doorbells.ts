import { DoorbellBufferConfig, IdentifyController, sqTailDoorbell } from '@gpunvme/nvme-spec'
import type { ShadowDoorbell } from '@gpunvme/nvme-spec/transport'
import { CommandError } from '../commands/command-queue.js'
import { hostBytes } from '../memory/reachable.js'
import { UnsupportedControllerError } from './ready.js'
import type { Session, SetupStep } from './session.js'

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
    try {
      const addresses = { PRP1: pages.shadow.iovaAt(0), PRP2: pages.eventIdx.iovaAt(0) }
      await session.admin.execute(DoorbellBufferConfig, addresses)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      const { name, clock } = session.transport
      // Queues that were made for shadow doorbells would never be heard without them.
      if (session.shadow !== undefined) {
        throw new UnsupportedControllerError(name, 'after a reset it refuses the shadow doorbells that it took before')
      }
      session.hub.emit({ kind: 'refused', timeNs: clock.now(), what: 'shadow doorbells', reason: error.message })
      return
    }
    session.shadow = pages
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
