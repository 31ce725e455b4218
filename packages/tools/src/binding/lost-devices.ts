import { blockDevicesOf } from '../machine/contents.js'
import { isKnown, unknown, type Known } from '../machine/known.js'
import type { Namespace } from '../machine/machine.js'
import { readNamespaces } from '../machine/namespaces.js'
import { Root } from '../machine/root.js'
import { formatBytes } from '../terminal/units.js'

/** Returns the namespaces in Linux that disappear when another driver is bound. */
export async function readLosses(
  root: string,
  { bdf, linuxName }: { readonly bdf: string; readonly linuxName: string | undefined },
): Promise<Known<readonly Namespace[]>> {
  if (linuxName === undefined) return unknown("Linux's nvme driver is not bound to the drive")
  return readNamespaces(new Root(root), `sys/bus/pci/devices/${bdf}/nvme/${linuxName}`)
}

/** States which block devices disappear, with their formats, before a drive is taken. */
export function describeLosses(namespaces: Known<readonly Namespace[]>): string[] {
  const devices = blockDevicesOf(namespaces)
  if (devices.length === 0) {
    const why = isKnown(namespaces) ? 'it has no namespace in Linux' : namespaces.unknown
    return [`No block device disappears: ${why}. The contents of the drive are unknown.`]
  }
  return [
    'These block devices disappear until the drive is unbound again. Their contents are kept.',
    ...devices.map(({ name, sizeBytes, contents }) => `- ${name}, ${formatBytes(sizeBytes)}: ${contents}`),
  ]
}
