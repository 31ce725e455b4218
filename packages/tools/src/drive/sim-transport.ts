import { profiles, RamMedia, simulate, type DriveProfile, type Media, type ProfileName } from '@gpunvme/nvme-sim'
import { fileMedia } from '@gpunvme/nvme-sim/file-media'
import { totalmem } from 'node:os'
import { FileError, isSystemError } from '../command-line/file-error.js'
import { createImageFile, requireImageFile, statImageFile } from './image-file.js'
import { withClaimedImage } from './image-users.js'
import type { SimulatedTransport } from './opened-transport.js'
import { punchHole } from './punch-hole.js'
import { UsageError, ToolsError } from '../command-line/tools-error.js'
import { openRealTimeSim } from './real-time-sim.js'

/** Block size in which the modelled drives are delivered. */
const BLOCK_BYTES = 512 as const

/** Capacity of a drive sold as 512 GB. In memory, it occupies only what is written. */
export const DEFAULT_CAPACITY_BYTES = 1_000_215_216 * BLOCK_BYTES

export const DEFAULT_PROFILE = 'sn740'

/** Options of a simulated drive. */
export interface SimOptions {
  /** Preset of the drive. Default: 'sn740'; 'ideal' has no latency. */
  readonly profile?: string
  /** Seed of the simulator's random numbers. The same seed gives the same run, to the nanosecond. */
  readonly seed?: number
  /** File with the drive's data. Without it, data are in memory and lost afterwards. */
  readonly image?: string
  /** Creates a missing image file, sparse. Requires `capacityBytes`. */
  readonly create?: boolean
  /** Opens the image read-only, as a write-protected drive. */
  readonly readOnly?: boolean
  /** Capacity of a drive in memory, or of a new image. An existing image has its own. */
  readonly capacityBytes?: number
  /**
   * Runs the drive on a thread in real time, with its registers in memory, so that the engines cpu-kernel and cuda can
   * use it. The preset's latencies are minimums.
   */
  readonly realTime?: boolean
}

export async function openSim(options: SimOptions): Promise<SimulatedTransport> {
  const profile = requireProfile(options.profile)
  const { image, readOnly = false } = options
  if (image === undefined) return simulateOn(profile, options)
  await prepareImage(image, options)
  return withClaimedImage(image, readOnly ? 'read' : 'write', () => simulateOn(profile, options))
}

async function simulateOn(profile: DriveProfile, options: SimOptions): Promise<SimulatedTransport> {
  const { seed = 1, image, realTime = false } = options
  const { capacityBytes = DEFAULT_CAPACITY_BYTES, readOnly = false } = options
  if (realTime) {
    const file = image === undefined ? { capacityBytes } : { file: { path: image, readOnly } }
    return openRealTimeSim(profile, seed, { blockBytes: BLOCK_BYTES, ...file })
  }
  const media =
    image === undefined ? new RamMedia(capacityBytes) : new ImageMedia(image, fileMedia(image, { readOnly, punchHole }))
  const namespaces = [{ blockBytes: BLOCK_BYTES, media }]
  const { transport } = simulate({ profile, seed, namespaces, hostMemoryBytes: totalmem() })
  return {
    name: 'sim',
    transport,
    time: 'modelled',
    link: profile.link,
    serial: profile.identify.SN ?? '',
    hostError: () => (media instanceof ImageMedia ? media.error : undefined),
    close: () => transport.close(),
  }
}

/** Returns the preset with that name. @throws UnknownProfileError */
export function requireProfile(name: string = DEFAULT_PROFILE): DriveProfile {
  if (!Object.hasOwn(profiles, name)) throw new UnknownProfileError(name)
  return profiles[name as ProfileName]
}

/** Creates the image if requested, and checks that it can be a drive. */
export async function prepareImage(
  path: string,
  { create = false, readOnly = false, capacityBytes }: Pick<SimOptions, 'create' | 'readOnly' | 'capacityBytes'>,
): Promise<void> {
  if (create && (await statImageFile(path)) === undefined) {
    if (capacityBytes === undefined) throw new UsageError('A new image file requires a capacity')
    await createImageFile(path, capacityBytes)
  }
  const { size } = await requireImageFile(path, readOnly ? 'read' : 'write')
  if (capacityBytes !== undefined && capacityBytes !== size) {
    throw new UsageError(`${path}: expected ${capacityBytes} bytes, got ${size}`, {
      next: 'omit the capacity for an existing drive image',
    })
  }
}

/** An image file that records the system's error: the drive can only report a media error. */
class ImageMedia implements Media {
  error: FileError | undefined
  readonly capacityBytes: number
  readonly readOnly: boolean
  private readonly path: string
  private readonly file: Media

  constructor(path: string, file: Media) {
    this.path = path
    this.file = file
    this.capacityBytes = file.capacityBytes
    this.readOnly = file.readOnly ?? false
  }

  read(offsetBytes: number, into: Uint8Array): void {
    this.keepingReason('read', () => this.file.read(offsetBytes, into))
  }

  write(offsetBytes: number, from: Uint8Array): void {
    this.keepingReason('write', () => this.file.write(offsetBytes, from))
  }

  flush(): void {
    this.keepingReason('write', () => this.file.flush())
  }

  close(): void {
    this.file.close()
  }

  private keepingReason(verb: string, use: () => void): void {
    try {
      use()
    } catch (error) {
      if (isSystemError(error)) this.error ??= new FileError(`${verb} ${this.path}`, error)
      throw error
    }
  }
}

/** Error of an unknown preset. */
export class UnknownProfileError extends ToolsError {
  constructor(name: string) {
    super('ERR_GPUNVME_UNKNOWN_PROFILE', 'usage', `Unknown profile '${name}'`, {
      facts: [`profiles: ${Object.keys(profiles).join(', ')}`],
      next: { command: ['sim'], note: 'which describes them' },
    })
  }
}
