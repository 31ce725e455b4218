import type { DriveFlags } from '../command-line/options.js'
import { UsageError } from '../command-line/usage-error.js'
import { openTransport } from './by-name.js'
import { openReal } from './open-real.js'
import type { OpenedTransport } from './opened-transport.js'

/** What only a simulated drive has, and the option that says so. */
const OF_SIMULATED = { sim: '--sim', profile: '--profile', seed: '--seed', realTime: '--real-time' } as const
/** What no real drive takes. */
const OF_EMULATED = { ...OF_SIMULATED, image: '--image', capacity: '--capacity' } as const
/** What names another drive than the one beside it. */
const OF_SERVED = { socket: '--socket' } as const

/**
 * Opens the drive that the flags name: a real one by the transport that suits the driver it is bound to, a served one, or
 * without either a simulated one. Callers that act for a user check `requireNamedDrive` first.
 * @throws UsageError for options that do not go together; DriveInUseError; as `findDrive` and `openTransport`.
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
      throw new UsageError(`--transport ${transport} needs a --drive`, {
        next: ['--drive 0000:0b:00.0', { command: ['list'] }],
      })
    case 'vfio-user':
      if (socket === undefined || socket === '') {
        throw new UsageError('--transport vfio-user needs a --socket', {
          next: {
            command: ['sim', 'serve', '--socket', '/tmp/drive.sock'],
            note: 'which serves a drive for that option',
          },
        })
      }
      refuse(flags, OF_EMULATED, flags.transport === undefined ? '--socket' : '--transport vfio-user')
      return openTransport('vfio-user', { socket })
    default:
      // `openTransport` looks names up; here it is a word from a command line.
      return openTransport(transport as 'sim')
  }
}

function openDrive(text: string, flags: DriveFlags): Promise<OpenedTransport> {
  refuseEmulated(flags)
  const { transport } = flags
  if (transport === 'sim' || transport === 'qtest' || transport === 'vfio-user') {
    throw new UsageError(`--drive and --transport ${transport} are two different drives`, { next: 'leave one out' })
  }
  return openReal(text, transport)
}

/** A real drive takes none of the options of those that are made here. @throws UsageError */
export function refuseEmulated(flags: DriveFlags): void {
  refuse(flags, { ...OF_EMULATED, ...OF_SERVED }, '--drive')
}

function refuse(flags: DriveFlags, options: Partial<Record<keyof DriveFlags, string>>, beside: string): void {
  for (const [name, option] of Object.entries(options)) {
    if (flags[name as keyof DriveFlags] === undefined) continue
    throw new UsageError(`${option} and ${beside} do not go together`, { next: `leave ${option} out` })
  }
}
