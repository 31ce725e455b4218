import type { Holder } from '@gpunvme/host-driver'
import { shellLine } from '../command-line/shell-line.js'

/** What a running system stands on: nobody unmounts it. */
const SYSTEM = /^\/(?:usr|boot(?:\/.*)?|var|etc)?$/

/**
 * What has a machine let go of a drive, as commands in the order in which they work; or the advice to leave it. Holders are
 * read from the words of host-driver's guard; of what is not known here, they say enough themselves.
 */
export function howToRelease(holders: readonly Holder[]): string {
  const mounts = holders.flatMap(({ use }) => /(?:^|, )mounted on ([^,]+)$/.exec(use)?.[1] ?? [])
  if (mounts.some((where) => SYSTEM.test(where))) return 'another drive: this machine runs from this one'
  const commands = [...new Set(holders.flatMap(releasing))]
  const rest = holders.some((holder) => releasing(holder).length === 0) ? ['detach what else is listed'] : []
  return [...commands, ...rest, 'or choose another drive'].join('; ')
}

/** From the innermost use, which is said last, outwards. */
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
