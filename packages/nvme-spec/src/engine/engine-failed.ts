import { GpuNvmeError } from '../error.js'

/** Registers or memory could not be accessed at all. Commands in flight may or may not have been executed. */
export class EngineFailedError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_ENGINE_FAILED'
  readonly category = 'device'
  /** @param engine its `name`. @param next next step. Default: opening everything again. */
  constructor(engine: string, cause: unknown, next = 'see the cause; open the transport and the controller again') {
    super(`The engine '${engine}' lost its transport: ${cause instanceof Error ? cause.message : String(cause)}`, {
      next,
      cause,
    })
  }
}
