import type { Device } from '../controller/device.js'
import type { Namespace } from '../nvm/namespace.js'

/** Flushes a namespace's cache to the medium. There is no status for a failure. */
export function flush({ nsid, media }: Namespace, { diagnostics }: Device): void {
  try {
    media.flush()
  } catch (error) {
    diagnostics.report('media', `media of namespace ${nsid}: ${String(error)}`)
  }
}
