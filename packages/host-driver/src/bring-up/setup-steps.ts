import { FID, HostBehavior, SetFeatures } from '@gpunvme/nvme-spec'
import { HostMemoryBuffer } from './host-memory-buffer.js'
import { FullPower } from './power.js'
import type { SetupStep } from './session.js'
import { ShadowDoorbells } from './shadow-doorbells.js'
import { tryFeature } from './try-feature.js'

/** Options of `Controller.open` for optional features of the controller. */
export interface FeatureOptions {
  /**
   * Uses shadow doorbells if the controller supports them, as emulated ones may. With QEMU 7.2 they are slower with one
   * command in flight and no faster with 32, and tracers do not see them. An engine other than the host engine must
   * support `ShadowDoorbell`. Default: false.
   */
  readonly shadowDoorbells?: boolean
  /** Maximum number of bytes lent to a controller that requests a Host Memory Buffer; 0 for none. Default: 64 MiB. */
  readonly hostMemoryBufferBytes?: number
  /**
   * Leaves power state and autonomous transitions unchanged. Default: false, which keeps the drive awake until `close`.
   */
  readonly keepPowerState?: boolean
}

const DEFAULT_HOST_MEMORY_BYTES = 64 * 1024 * 1024

/** Returns the optional setup steps in the order in which they are applied; they are undone in reverse order. */
export function setupSteps(options: FeatureOptions): SetupStep[] {
  const { shadowDoorbells = false, keepPowerState = false } = options
  return [
    advancedRetry,
    ...(keepPowerState ? [] : [new FullPower()]),
    new HostMemoryBuffer(options.hostMemoryBufferBytes ?? DEFAULT_HOST_MEMORY_BYTES),
    ...(shadowDoorbells ? [new ShadowDoorbells()] : []),
  ]
}

/** Allows a controller that states Command Retry Delay Times to request delays (ACRE of Host Behavior Support). */
const advancedRetry: SetupStep = {
  async apply(session) {
    if (session.identity.retryDelaysNs.every((delayNs) => delayNs === 0)) return
    const data = new DataView(new ArrayBuffer(HostBehavior.bytes))
    HostBehavior.encode(data, 0, { ACRE: 1 })
    await tryFeature(session, 'command retry delays', () =>
      session.admin.executeWithData(SetFeatures, { FID: FID.HOST_BEHAVIOR_SUPPORT }, new Uint8Array(data.buffer)),
    )
  },
}
