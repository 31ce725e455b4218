import type { DriveFlags } from '../command-line/options.js'
import { UsageError } from '../command-line/tools-error.js'
import { openTransport } from './by-name.js'
import { openReal } from './open-real.js'
import type { OpenedTransport } from './opened-transport.js'

/** Options that only simulated drives have. */
const OF_SIMULATED = { sim: '--sim', profile: '--profile', seed: '--seed', realTime: '--real-time' } as const
/** Options that real drives do not have. */
const OF_EMULATED = { ...OF_SIMULATED, image: '--image', capacity: '--capacity' } as const
/** Options that name another drive. */
const OF_SERVED = { socket: '--socket' } as const

/**
 * Opens the drive of the flags: a real one by the transport of its driver, a served one, or otherwise a simulated one.
 * Call `requireNamedDrive` first when acting for a user.
 * @throws UsageError for contradictory options; ToolsError (DRIVE_IN_USE); errors of `findDrive` and `openTransport`.
 */
export async function openNamed(flags: DriveFlags, access: 'read' | 'write'): Promise<OpenedTransport> {
  const { drive, profile, seed, image, capacity, realTime, socket } = flags
  if (drive !== undefined) return openDrive(drive, flags)
  const { transport = socket === undefined ? 'sim' : 'vfio-user' } = flags
  if (transport !== 'vfio-user') refuse(flags, OF_SERVED, `--transport ${transport}`)
  const file = {
    ...(image !== undefined && { image, readOnly: access === 'read' }),
    ...(capacity !== undefined && { capacityBytes: capacity }),
  }
  switch (transport) {
    case 'sim':
      return openTransport('sim', {
        ...(profile !== undefined && { profile }),
        ...(seed !== undefined && { seed }),
        ...(realTime !== undefined && { realTime }),
        ...file,
      })
    case 'qtest':
      refuse(flags, OF_SIMULATED, '--transport qtest')
      return openTransport('qtest', file)
    case 'sysfs':
    case 'vfio':
    case 'kmod':
      throw new UsageError(`--transport ${transport} requires --drive`, {
        next: ['--drive 0000:0b:00.0', { command: ['list'] }],
      })
    case 'vfio-user':
      if (socket === undefined || socket === '') {
        throw new UsageError('--transport vfio-user requires --socket', {
          next: {
            command: ['sim', 'serve', '--socket', '/tmp/drive.sock'],
            note: 'which serves a drive',
          },
        })
      }
      refuse(flags, OF_EMULATED, flags.transport === undefined ? '--socket' : '--transport vfio-user')
      return openTransport('vfio-user', { socket })
    default:
      // Any word of a command line; `openTransport` rejects unknown names.
      return openTransport(transport as 'sim')
  }
}

function openDrive(text: string, flags: DriveFlags): Promise<OpenedTransport> {
  refuseEmulated(flags)
  const { transport } = flags
  if (transport === 'sim' || transport === 'qtest' || transport === 'vfio-user') {
    throw new UsageError(`--drive and --transport ${transport} are mutually exclusive`, { next: 'omit one of them' })
  }
  return openReal(text, transport)
}

/** Rejects options of emulated drives for a real drive. @throws UsageError */
export function refuseEmulated(flags: DriveFlags): void {
  refuse(flags, { ...OF_EMULATED, ...OF_SERVED }, '--drive')
}

function refuse(flags: DriveFlags, options: Partial<Record<keyof DriveFlags, string>>, beside: string): void {
  for (const [name, option] of Object.entries(options)) {
    if (flags[name as keyof DriveFlags] === undefined) continue
    throw new UsageError(`${option} and ${beside} are mutually exclusive`, { next: `omit ${option}` })
  }
}
