import type { DriveProfile } from '@gpunvme/nvme-sim'
import type { RealTimeNamespace } from '@gpunvme/nvme-sim/realtime'
import { createImageFile, ImageFileError, statImageFile } from '../drive/image-file.js'
import { DEFAULT_CAPACITY_BYTES, prepareImage, requireProfile } from '../drive/sim-transport.js'
import { UsageError } from '../command-line/usage-error.js'
import { printable } from '../terminal/printable.js'
import { formatBytes } from '../terminal/units.js'

/** Blocks that the presets' originals are delivered with. */
const BLOCK_BYTES = 512

/** Which drive is to be served. */
export interface DriveChoice {
  readonly profile?: string
  /** The preset's when not given. Linux takes no second drive of the same number. */
  readonly serial?: string
  readonly image?: string
  readonly capacity?: number
  readonly readOnly?: boolean
}

/** A drive that can be served, and what is to be said of it. */
export interface ServedDrive {
  readonly profile: DriveProfile
  readonly namespace: RealTimeNamespace
  readonly capacityBytes: number
  readonly image: string | undefined
  readonly isReadOnly: boolean
  /** Takes away an image file that was made for it, for when it cannot be served. */
  readonly unmake: () => void
}

/**
 * Finds what the drive is made of, and makes an image file that is not there, where its capacity is given.
 * @throws UsageError for what contradicts itself; UnknownProfileError, ImageFileError, FileError
 */
export async function chooseDrive({
  profile: name,
  serial,
  image,
  capacity,
  readOnly = false,
}: DriveChoice): Promise<ServedDrive> {
  const profile = withSerial(requireProfile(name), serial)
  if (capacity !== undefined) requireWholeBlocks(capacity)
  if (image === undefined) {
    if (readOnly) throw new UsageError('--read-only is for an --image', { next: '--image FILE, or leave it out' })
    const capacityBytes = capacity ?? DEFAULT_CAPACITY_BYTES
    const namespace = { blockBytes: BLOCK_BYTES, capacityBytes } as const
    return { profile, namespace, capacityBytes, image, isReadOnly: false, unmake: () => undefined }
  }
  const isNew = (await statImageFile(image)) === undefined
  const unmake = isNew ? await makeImage(image, capacity, readOnly) : () => undefined
  await prepareImage(image, { readOnly, ...(capacity !== undefined && { capacityBytes: capacity }) })
  const { size } = (await statImageFile(image))!
  const namespace = { blockBytes: BLOCK_BYTES, file: { path: image, readOnly } } as const
  return { profile, namespace, capacityBytes: wholeBlocks(size), image, isReadOnly: readOnly, unmake }
}

function withSerial(profile: DriveProfile, serial: string | undefined): DriveProfile {
  return serial === undefined ? profile : { ...profile, identify: { ...profile.identify, SN: serial } }
}

/** 'simulated WD PC SN740 512GB, serial GPUNVME-SIM-SN740, 16 GiB, d.img'. */
export function describeDrive({ profile, capacityBytes, image, isReadOnly }: ServedDrive): string {
  const { MN: model = 'no model', SN: serial = 'none' } = profile.identify
  const place = image === undefined ? 'in memory, gone afterwards' : printable(image)
  return `${model}, serial ${serial}, ${formatBytes(capacityBytes)}, ${place}${isReadOnly ? ', read only' : ''}`
}

/** The same for programs. */
export function driveJson({ profile, capacityBytes, image, isReadOnly }: ServedDrive): object {
  const { name, identify } = profile
  const place = image === undefined ? {} : { image, readOnly: isReadOnly }
  return { profile: name, model: identify.MN, serial: identify.SN, capacityBytes, ...place }
}

/** @returns what takes it away again. */
async function makeImage(path: string, capacityBytes: number | undefined, readOnly: boolean): Promise<() => void> {
  if (capacityBytes === undefined || readOnly) {
    const next = readOnly
      ? 'check the spelling'
      : '--capacity 16GiB, which makes it, and takes no room until it is written to'
    throw new ImageFileError(printable(path), 'no such file', 'not-found', next)
  }
  return createImageFile(path, capacityBytes)
}

function requireWholeBlocks(bytes: number): void {
  const below = wholeBlocks(bytes)
  if (below === bytes) return
  const nearest = [below, below + BLOCK_BYTES].filter((each) => each > 0).map((each) => `--capacity ${each}`)
  throw new UsageError(`A drive of ${bytes} bytes has no whole number of blocks of ${BLOCK_BYTES} bytes`, {
    next: nearest.join(' or '),
  })
}

function wholeBlocks(bytes: number): number {
  return bytes - (bytes % BLOCK_BYTES)
}
