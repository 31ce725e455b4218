import { FID, HostBehavior, SetFeatures } from '@gpunvme/nvme-spec'
import { CommandError } from '../commands/command-queue.js'
import type { SetupStep } from './session.js'

/**
 * Tells a controller that states Command Retry Delay Times that this host honours them (ACRE of Host Behavior Support):
 * before that a controller may not ask for a delay.
 */
export const advancedRetry: SetupStep = {
  async apply({ admin, identity, hub, transport }) {
    if (identity.retryDelaysNs.every((delayNs) => delayNs === 0)) return
    const data = new DataView(new ArrayBuffer(HostBehavior.bytes))
    HostBehavior.encode(data, 0, { ACRE: 1 })
    try {
      await admin.executeWithData(SetFeatures, { FID: FID.HOST_BEHAVIOR_SUPPORT }, new Uint8Array(data.buffer))
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      const timeNs = transport.clock.now()
      hub.emit({ kind: 'refused', timeNs, what: 'delays that the controller asks for', reason: error.message })
    }
  },
}
