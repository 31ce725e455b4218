import type { DriveFlags } from '../command-line/options.js'
import { UsageError } from '../command-line/tools-error.js'
import { capacityOf } from '../machine/capacity.js'
import { functionAt, isKnown, readMachine, type Drive } from '../machine/index.js'
import { printable } from '../terminal/printable.js'
import { formatBytes } from '../terminal/units.js'

/**
 * Checks that the flags name a drive: a real one, a served one, an image, or a simulated one. A drive is opened or
 * simulated only on request.
 * @param root directory that contains sys/ and proc/: '/' on a live machine.
 * @throws UsageError that suggests the machine's only drive, or how to list drives.
 */
export async function requireNamedDrive(flags: DriveFlags, root = '/'): Promise<void> {
  const { drive, socket, image, sim, profile, realTime, transport } = flags
  // A preset and real time imply a simulated drive.
  if ([drive, socket, image, sim, profile, realTime, transport].some((flag) => flag !== undefined)) return
  const machine = await readMachine(root)
  throw noDriveNamed(machine.drives.map((each) => describe(each, functionAt(machine, each.address)?.deviceName)))
}

interface Candidate {
  /** Value for --drive. */
  readonly name: string
  /** '0000:0b:00.0 (nvme0), WD PC SN740, 477 GiB'. */
  readonly description: string
}

function describe(drive: Drive, deviceName: string | undefined): Candidate {
  const { address, name, model } = drive
  const bytes = capacityOf(drive)
  const parts = [
    `${address}${name === undefined ? '' : ` (${name})`}`,
    isKnown(model) ? printable(model) : (deviceName ?? 'unknown model'),
    ...(bytes === undefined ? [] : [formatBytes(bytes)]),
  ]
  return { name: name ?? address, description: parts.join(', ') }
}

const SIMULATED = 'use --sim for a simulated drive, or --image FILE for one that keeps its data'

function noDriveNamed(drives: readonly Candidate[]): UsageError {
  const [only, ...others] = drives
  if (only === undefined) {
    return new UsageError('No drive is named', {
      facts: ['this machine has no NVMe drive'],
      next: SIMULATED,
    })
  }
  if (others.length > 0) {
    return new UsageError('No drive is named', {
      facts: [`this machine has ${drives.length} NVMe drives`],
      next: [{ command: ['list'], note: 'which lists them' }, 'use --drive ADDRESS', SIMULATED],
    })
  }
  return new UsageError('No drive is named', {
    facts: [`this machine has one: ${only.description}`],
    next: [`use --drive ${only.name}`, SIMULATED],
  })
}
