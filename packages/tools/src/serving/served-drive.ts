import type { DriveProfile } from '@gpunvme/nvme-sim'
import type { RealTimeNamespace } from '@gpunvme/nvme-sim/realtime'
import { createImageFile, ImageFileError, statImageFile } from '../drive/image-file.js'
import { DEFAULT_CAPACITY_BYTES, prepareImage, requireProfile } from '../drive/sim-transport.js'
import { UsageError } from '../command-line/tools-error.js'
import { printable } from '../terminal/printable.js'
import { formatBytes } from '../terminal/units.js'

/** Block size in which the modelled drives are delivered. */
const BLOCK_BYTES = 512

/** Options of the served drive. */
export interface DriveChoice {
  readonly profile?: string
  /** Default: that of the preset. Linux rejects a second drive with the same number. */
  readonly serial?: string
  readonly image?: string
  readonly capacity?: number
  readonly readOnly?: boolean
}

/** A drive to serve, with its description. */
export interface ServedDrive {
  readonly profile: DriveProfile
  readonly namespace: RealTimeNamespace
  readonly capacityBytes: number
  readonly image: string | undefined
  readonly isReadOnly: boolean
  /** Removes an image file that was created for it, if serving fails. */
  readonly unmake: () => void
}

/**
 * Determines the drive, and creates a missing image file if its capacity is given.
 * @throws UsageError for contradictory options; UnknownProfileError, ImageFileError, FileError
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
    if (readOnly)
      throw new UsageError('--read-only requires --image', { next: 'use --image FILE, or omit --read-only' })
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
  const place = image === undefined ? 'in memory (lost when it ends)' : printable(image)
  return `${model}, serial ${serial}, ${formatBytes(capacityBytes)}, ${place}${isReadOnly ? ', read-only' : ''}`
}

/** Returns the same data for JSON. */
export function driveJson({ profile, capacityBytes, image, isReadOnly }: ServedDrive) {
  const { name, identify } = profile
  const place = image === undefined ? {} : { image, readOnly: isReadOnly }
  return { profile: name, model: identify.MN, serial: identify.SN, capacityBytes, ...place }
}

/** @returns a function that removes it. */
async function makeImage(path: string, capacityBytes: number | undefined, readOnly: boolean): Promise<() => void> {
  if (capacityBytes === undefined || readOnly) {
    const next = readOnly ? 'check the spelling' : 'create a sparse file with --capacity 16GiB'
    throw new ImageFileError(printable(path), 'no such file', 'not-found', next)
  }
  return createImageFile(path, capacityBytes)
}

function requireWholeBlocks(bytes: number): void {
  const below = wholeBlocks(bytes)
  if (below === bytes) return
  const nearest = [below, below + BLOCK_BYTES].filter((each) => each > 0).map((each) => `--capacity ${each}`)
  throw new UsageError(`The capacity of ${bytes} bytes is not a multiple of ${BLOCK_BYTES}`, {
    next: nearest.join(' or '),
  })
}

function wholeBlocks(bytes: number): number {
  return bytes - (bytes % BLOCK_BYTES)
}
