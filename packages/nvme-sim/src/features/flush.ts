import type { Device } from '../controller/device.js'
import type { Namespace } from '../nvm/namespace.js'

/** What a namespace's cache holds goes to the medium. No status is there to say that it cannot. */
export function flush({ nsid, media }: Namespace, { diagnostics }: Device): void {
  try {
    media.flush()
  } catch (error) {
    diagnostics.report(`media of namespace ${nsid}: ${String(error)}`)
  }
}
