import { profiles, type ProfileName } from '@gpunvme/nvme-sim'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import { driveFacts } from '../binding/drive-facts.js'
import type { DriveFlags } from '../command-line/options.js'
import { printable } from '../terminal/printable.js'
import type { FoundDrive } from './find-drive.js'
import type { OpenedTransport } from './opened-transport.js'
import { DEFAULT_PROFILE } from './sim-transport.js'

/** The drive that a verb used, as named in its result. */
export interface NamedDrive {
  /** First line of the text output: 'SIMULATED  WD PC SN740 512GB (profile sn740)'. */
  readonly line: string
  /** Part of the member `drive` of the JSON result. */
  readonly facts: DriveFacts
}

/** What a result says about the drive that it is from. */
export interface DriveFacts {
  readonly transport?: OpenedTransport['name']
  /** Absent if the transport does not know: another program serves the drive. */
  readonly simulated?: boolean
  /** Preset of a simulated drive. */
  readonly profile?: string
  /** PCI address. */
  readonly address?: string
  /** Drives of a set. */
  readonly members?: readonly Omit<DriveFacts, 'members'>[]
}

/** Names an opened drive. */
export function nameOpened(
  { name, transport: { bdf } }: Pick<OpenedTransport, 'name'> & { readonly transport: Pick<Transport, 'bdf'> },
  { profile = DEFAULT_PROFILE, image, socket }: DriveFlags,
): NamedDrive {
  const contents = image === undefined ? '' : `, image ${printable(image)}`
  switch (name) {
    case 'sim':
      return {
        line: `SIMULATED  ${modelOf(profile)} (profile ${profile}${contents})`,
        facts: { transport: name, simulated: true, profile },
      }
    case 'qtest':
      return {
        line: `SIMULATED  QEMU's NVMe controller (transport qtest${contents})`,
        facts: { transport: name, simulated: true },
      }
    case 'vfio-user':
      return { line: `DRIVE  served at ${printable(socket ?? '')} (transport vfio-user)`, facts: { transport: name } }
    case 'sysfs':
    case 'vfio':
    case 'kmod':
      return { line: `DRIVE  ${bdf} (transport ${name})`, facts: { transport: name, simulated: false, address: bdf! } }
  }
}

/** Names the drives of a set. */
export function nameSet(drives: readonly NamedDrive[]): NamedDrive {
  return { line: drives.map(({ line }) => line).join('\n'), facts: { members: drives.map(({ facts }) => facts) } }
}

/** Names a drive that stays bound to Linux's nvme driver. @param root directory that contains sys/ */
export function nameLinuxDrive({ bdf, linuxName }: Pick<FoundDrive, 'bdf' | 'linuxName'>, root: string): NamedDrive {
  const { model } = driveFacts(root, bdf)
  const about = [linuxName, model].flatMap((part) => (part == null ? [] : [printable(part)]))
  return {
    line: `DRIVE  ${bdf}${about.length === 0 ? '' : ` (${about.join(', ')})`}`,
    facts: { simulated: false, address: bdf },
  }
}

/** The models of presets start with 'simulated', which repeats the first word of the line. */
function modelOf(profile: string): string {
  return (profiles[profile as ProfileName].identify.MN ?? '').replace(/^simulated /, '')
}
