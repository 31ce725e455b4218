import { FID, HostBehavior, SetFeatures } from '@gpunvme/nvme-spec'
import type { SetupStep } from './session.js'
import { unlessRefused } from './unless-refused.js'

/** Allows a controller that states Command Retry Delay Times to request delays (ACRE of Host Behavior Support). */
export const advancedRetry: SetupStep = {
  async apply(session) {
    if (session.identity.retryDelaysNs.every((delayNs) => delayNs === 0)) return
    const data = new DataView(new ArrayBuffer(HostBehavior.bytes))
    HostBehavior.encode(data, 0, { ACRE: 1 })
    await unlessRefused(session, 'command retry delays', () =>
      session.admin.executeWithData(SetFeatures, { FID: FID.HOST_BEHAVIOR_SUPPORT }, new Uint8Array(data.buffer)),
    )
  },
}
