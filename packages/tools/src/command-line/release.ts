import type { Holder } from '@gpunvme/host-driver'
import { shellLine } from '../terminal/invocation.js'

/** Mount points of a running system, which cannot be unmounted. */
const SYSTEM = /^\/(?:usr|boot(?:\/.*)?|var|etc)?$/

/**
 * Returns the commands that release a drive, in order; or the advice to choose another drive. Uses come from
 * host-driver's guard; unknown ones are left to their own description.
 */
export function howToRelease(holders: readonly Holder[]): string {
  const mounts = holders.flatMap(({ use }) => /(?:^|, )mounted on ([^,]+)$/.exec(use)?.[1] ?? [])
  if (mounts.some((where) => SYSTEM.test(where))) return 'another drive: this machine runs from this one'
  const commands = [...new Set(holders.flatMap(releasing))]
  const rest = holders.some((holder) => releasing(holder).length === 0) ? ['detach the other uses listed'] : []
  return [...commands, ...rest, 'or choose another drive'].join('; ')
}

/** From the innermost use, which is last, outwards. */
function releasing({ device, use }: Holder): string[] {
  const parts = use.split(', ').reverse()
  return parts.flatMap((part, index) => {
    const [, above = device] = /held by (\S+)/.exec(parts[index + 1] ?? '') ?? []
    return command(part, above)
  })
}

function command(part: string, device: string): string[] {
  const [, inside, pid] = /^mounted on (.+) in the mount namespace of process (\d+)$/.exec(part) ?? []
  if (inside !== undefined) return [shellLine(['nsenter', '--mount', '--target', pid!, 'umount', inside])]
  const [, where] = /^mounted on (.+)$/.exec(part) ?? []
  if (where !== undefined) return [shellLine(['umount', where])]
  if (part === 'swap') return [`swapoff /dev/${device}`]
  const [, process] = /(?:open|mapped) in process (\d+)/.exec(part) ?? []
  if (process !== undefined) return [`kill ${process}`]
  const [, held, kind = '', name = ''] = /^held by (\S+)(?: \((\S+)(?: '(.*)')?\))?$/.exec(part) ?? []
  if (held === undefined) return []
  if (/^(?:LUKS|dm-crypt|VeraCrypt)/.test(kind)) return [shellLine(['cryptsetup', 'close', name])]
  if (kind === 'LVM') return [`lvchange --activate n /dev/${held}`]
  if (/^md\d+/.test(held)) return [`mdadm --stop /dev/${held}`]
  return held.startsWith('loop') ? [`losetup --detach /dev/${held}`] : []
}
