import { profiles, RamMedia, simulate, type DriveProfile, type Media, type ProfileName } from '@gpunvme/nvme-sim'
import { fileMedia } from '@gpunvme/nvme-sim/file-media'
import { totalmem } from 'node:os'
import { FileError, isSystemError } from '../command-line/file-error.js'
import { createImageFile, requireImageFile, statImageFile } from './image-file.js'
import type { HarmlessTransport } from './opened-transport.js'
import { punchHole } from './punch-hole.js'
import { UsageError } from '../command-line/usage-error.js'
import { openRealTimeSim } from './real-time-sim.js'
import { ToolsError } from '../command-line/tools-error.js'

/** Blocks that the presets' originals are delivered with. */
const BLOCK_BYTES = 512 as const

/** What a drive sold as 512 GB has. In memory it costs nothing until it is written to. */
export const DEFAULT_CAPACITY_BYTES = 1_000_215_216 * BLOCK_BYTES

export const DEFAULT_PROFILE = 'sn740'

export interface SimOptions {
  /** Which drive is simulated, by its preset's name: 'sn740' when not given; 'ideal' costs no time. */
  readonly profile?: string
  /** Of the simulator's random numbers. The same seed gives the same run, to the nanosecond. */
  readonly seed?: number
  /** A file as the drive's contents. Without it they are in memory, and gone afterwards. */
  readonly image?: string
  /** Makes the image file, sparse, where there is none. Needs `capacityBytes`. */
  readonly create?: boolean
  /** The image is opened for reading, and the drive is write-protected. */
  readonly readOnly?: boolean
  /** Of a drive in memory, or of an image that is made. An image that exists has its own. */
  readonly capacityBytes?: number
  /**
   * The drive lives on a thread of its own and by the wall's clock, with its registers in memory, so that the engines
   * cpu-kernel and cuda can drive it. The preset's latencies are what it takes at least.
   */
  readonly realTime?: boolean
}

export async function openSim(options: SimOptions): Promise<HarmlessTransport> {
  const { seed = 1, image, realTime = false } = options
  const profile = requireProfile(options.profile)
  if (image !== undefined) await prepareImage(image, options)
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

/** The preset of that name. @throws UnknownProfileError */
export function requireProfile(name: string = DEFAULT_PROFILE): DriveProfile {
  if (!Object.hasOwn(profiles, name)) throw new UnknownProfileError(name)
  return profiles[name as ProfileName]
}

/** Makes it where that is asked for, and checks that it can be a drive. */
export async function prepareImage(
  path: string,
  { create = false, readOnly = false, capacityBytes }: Pick<SimOptions, 'create' | 'readOnly' | 'capacityBytes'>,
): Promise<void> {
  if (create && (await statImageFile(path)) === undefined) {
    if (capacityBytes === undefined) throw new UsageError('A new image file needs a capacity')
    await createImageFile(path, capacityBytes)
  }
  const { size } = await requireImageFile(path, readOnly ? 'read' : 'write')
  if (capacityBytes !== undefined && capacityBytes !== size) {
    throw new UsageError(`${path} has ${size} bytes, not ${capacityBytes}`, {
      next: 'leave the capacity out: a drive image that exists has its own',
    })
  }
}

/** An image file that keeps the system's reason when it fails: the drive can only say that the media did. */
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

/** No preset has that name. */
export class UnknownProfileError extends ToolsError {
  readonly code = 'ERR_GPUNVME_UNKNOWN_PROFILE'
  readonly category = 'usage'
  constructor(name: string) {
    super(`Unknown profile '${name}'`, { facts: [`profiles: ${Object.keys(profiles).join(', ')}`] })
  }
}
