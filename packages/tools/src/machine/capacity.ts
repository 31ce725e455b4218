import { isKnown } from './known.js'
import type { Drive } from './machine.js'

/** Returns the bytes of a drive's namespaces; undefined where Linux shows none. */
export function capacityOf({ namespaces }: Drive): number | undefined {
  if (!isKnown(namespaces) || namespaces.length === 0) return undefined
  return namespaces.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
}
