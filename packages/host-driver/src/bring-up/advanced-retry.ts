import { FID, HostBehavior, SetFeatures } from '@gpunvme/nvme-spec'
import type { SetupStep } from './session.js'
import { unlessRefused } from './unless-refused.js'

/**
 * Tells a controller that states Command Retry Delay Times that this host honours them (ACRE of Host Behavior Support):
 * before that a controller may not ask for a delay.
 */
export const advancedRetry: SetupStep = {
  async apply(session) {
    if (session.identity.retryDelaysNs.every((delayNs) => delayNs === 0)) return
    const data = new DataView(new ArrayBuffer(HostBehavior.bytes))
    HostBehavior.encode(data, 0, { ACRE: 1 })
    await unlessRefused(session, 'delays that the controller asks for', () =>
      session.admin.executeWithData(SetFeatures, { FID: FID.HOST_BEHAVIOR_SUPPORT }, new Uint8Array(data.buffer)),
    )
  },
}
