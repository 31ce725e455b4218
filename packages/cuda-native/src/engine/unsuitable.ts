import { GpuNvmeError } from '@gpunvme/nvme-spec'

/** Error: an engine cannot drive a transport. Nothing was accessed. */
export class EngineUnsuitableError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_ENGINE_UNSUITABLE'
  readonly category = 'infeasible'

  /** @param engine name of the engine. @param transport name of the transport. */
  constructor(engine: string, transport: string) {
    super(`The engine '${engine}' cannot drive the transport '${transport}': its registers are not memory`, {
      facts: [
        'the engine rings doorbells by stores to memory; this transport, or a wrapper of it, accesses registers by calls',
      ],
      next: 'omit `engine` in Controller.open: the host engine drives every transport; this one requires vfio, kmod, sysfs or a real-time simulator in native memory',
    })
  }
}
