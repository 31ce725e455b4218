import { GpuNvmeError } from '@gpunvme/nvme-spec'

/** A transport that this engine cannot drive. Nothing was touched. */
export class EngineUnsuitableError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_ENGINE_UNSUITABLE'
  readonly category = 'infeasible'

  /** @param engine its name. @param transport the transport's. */
  constructor(engine: string, transport: string) {
    super(`The engine '${engine}' cannot drive the transport '${transport}': its registers are not memory`, {
      facts: ['native code rings doorbells by stores; here an access is a call, or a wrapper stands before it'],
      next: 'leave `engine` out of Controller.open: the host engine drives every transport; this one drives those of sysfs, vfio and a real-time simulator on native memory',
    })
  }
}
