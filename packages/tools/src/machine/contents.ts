import { printable } from '../terminal/printable.js'
import { plural } from '../terminal/units.js'
import { isKnown, type Known } from './known.js'
import type { Namespace } from './machine.js'

const UNKNOWN = 'contents unknown'

/**
 * Describes the content of a drive, after 'not in use, ': '4 partitions: ntfs, ext4', 'holds ext4', 'contents unknown'.
 * A drive without a known format may still have data, so no drive is called empty or free.
 */
export function describeContents(namespaces: Known<readonly Namespace[]>): string {
  if (!isKnown(namespaces) || namespaces.length === 0) return UNKNOWN
  const [only, ...others] = namespaces
  if (others.length === 0) return contentsOf(only!)
  return namespaces.map((each) => `${each.name} ${contentsOf(each)}`).join('; ')
}

/** Returns whether a partition or a known format was found on the drive. */
export function holdsKnownData(namespaces: Known<readonly Namespace[]>): boolean {
  return isKnown(namespaces) && namespaces.some(({ format, partitions }) => isKnown(format) || partitions.length > 0)
}

/** Lists the block devices of the drive that disappear from Linux: 'nvme0n1p1, 100 GiB: ntfs'. */
export function blockDevicesOf(
  namespaces: Known<readonly Namespace[]>,
): { name: string; sizeBytes: number; contents: string }[] {
  if (!isKnown(namespaces)) return []
  return namespaces.flatMap(({ partitions, ...namespace }) =>
    [namespace, ...partitions].map(({ name, sizeBytes, format }) => ({
      ...{ name, sizeBytes },
      contents: isKnown(format) ? printable(format) : UNKNOWN,
    })),
  )
}

function contentsOf({ format, partitions }: Namespace): string {
  if (partitions.length === 0) return isKnown(format) ? `holds ${printable(format)}` : UNKNOWN
  const kinds = new Set(partitions.map((each) => (isKnown(each.format) ? printable(each.format) : 'unknown')))
  const count = plural(partitions.length, 'partition')
  return kinds.size === 1 && kinds.has('unknown') ? `${count}, ${UNKNOWN}` : `${count}: ${[...kinds].join(', ')}`
}
