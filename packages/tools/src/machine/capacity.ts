import { isKnown } from './known.js'
import type { Drive } from './machine.js'

/** Returns the bytes of a drive's namespaces; undefined without namespaces in Linux. */
export function capacityOf({ namespaces }: Drive): number | undefined {
  if (!isKnown(namespaces) || namespaces.length === 0) return undefined
  return namespaces.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
}
