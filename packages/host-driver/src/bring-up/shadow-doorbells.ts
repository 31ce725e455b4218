import { DoorbellBufferConfig, IdentifyController, sqTailDoorbell } from '@gpunvme/nvme-spec'
import type { ShadowDoorbell } from '@gpunvme/nvme-spec/transport'
import { hostBytes } from '../memory/reachable.js'
import { unsupportedController } from './ready.js'
import type { Session, SetupStep } from './session.js'
import { tryFeature } from './try-feature.js'

/**
 * Configures shadow doorbells on a controller that polls host memory (Base 2.3 §5.3.5). They are valid until the next
 * reset, and configured again after it. The Admin queue keeps to its registers, as in Linux, which existing controllers
 * accept.
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
    const taken = await tryFeature(session, 'shadow doorbells', () =>
      session.admin.execute(DoorbellBufferConfig, addresses),
    )
    if (taken) session.shadow = pages
    // Queues that use shadow doorbells do not work without them.
    else if (session.shadow !== undefined) {
      const reason = 'after a reset it rejects the shadow doorbells that it accepted before'
      throw unsupportedController(session.transport.name, reason)
    }
  }
}

/** Returns whether the controller supports the command, and one page holds the doorbells of all requested queues. */
function isOffered({ identity, limits, options }: Session): boolean {
  const { OACS } = IdentifyController.view(identity.raw)
  const beyondLast = sqTailDoorbell(options.queues + 2, limits.dstrd) - sqTailDoorbell(0, limits.dstrd)
  return IdentifyController.OACS.DBCS.of(OACS) === 1 && beyondLast <= limits.pageBytes
}

function allocate({ pool, limits }: Session): Omit<ShadowDoorbell, 'offsetBytes'> {
  const page = () => pool.alloc(limits.pageBytes, { contiguous: true, alignBytes: limits.pageBytes })
  return { shadow: page(), eventIdx: page() }
}
