import { readdir, readFile, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CaptureError } from './capture-error.js'

/** sysfs counts in these sectors for every device. */
const SECTOR_BYTES = 512

/** The drive that holds a file, by Linux's names. */
export interface CapturedDevice {
  /** For example nvme0n1. */
  readonly disk: string
  /** For example nvme0n1p2. Absent if the file system uses the whole disk. */
  readonly partition?: string
  readonly fileSystem: string
}

/** Location of a mounted file system. */
export interface MountedDevice {
  readonly device: CapturedDevice
  readonly partitionStartBytes: number
  readonly partitionBytes: number
}

/** File systems whose FIEMAP offsets refer to one device, and whose files stay in place unless they are written. */
const FILE_SYSTEMS: ReadonlySet<string> = new Set(['ext2', 'ext3', 'ext4', 'xfs'])

/** Mount options under which bytes may be elsewhere than FIEMAP reports, or on another device. */
const REFUSED_OPTIONS: readonly (readonly [option: RegExp, why: string])[] = [
  [/^data=journal$/, 'its data may be in the journal only (data=journal)'],
  [/^rtdev=/, 'its data may be on a second device (rtdev)'],
]

/**
 * Finds the device that a file system is mounted from, by device number.
 * @param deviceNumber `st_dev` of a file.
 * @throws CaptureError unless it is a partition of a drive, or a whole drive, with a supported file system.
 */
export async function mountedDevice(sysRoot: string, path: string, deviceNumber: bigint): Promise<MountedDevice> {
  const number = `${major(deviceNumber)}:${minor(deviceNumber)}`
  const { fileSystem, options } = await mountOf(sysRoot, path, number)
  if (!FILE_SYSTEMS.has(fileSystem)) {
    throw new CaptureError(
      'MOUNT',
      path,
      `it is on ${fileSystem}, which may move files or spread them over several devices`,
    )
  }
  for (const [option, why] of REFUSED_OPTIONS) {
    if (options.some((one) => option.test(one))) throw new CaptureError('MOUNT', path, why)
  }
  const folder = await folderOf(sysRoot, path, number, fileSystem)
  const name = basename(folder)
  const [isPartition, start, size] = await Promise.all([
    textOf(join(folder, 'partition')),
    textOf(join(folder, 'start')),
    textOf(join(folder, 'size')),
  ])
  const disk = isPartition === undefined ? folder : dirname(folder)
  await refuseStacked(path, disk)
  return {
    device: { disk: basename(disk), ...(isPartition !== undefined && { partition: name }), fileSystem },
    partitionStartBytes: isPartition === undefined ? 0 : sectors(path, name, 'start', start),
    partitionBytes: sectors(path, name, 'size', size),
  }
}

/** proc_pid_mountinfo(5): the fields before the dash are always present; after it come type, source and options. */
async function mountOf(
  sysRoot: string,
  path: string,
  number: string,
): Promise<{ fileSystem: string; options: string[] }> {
  const mounts = (await textOf(join(sysRoot, 'proc/self/mountinfo'))) ?? ''
  for (const line of mounts.split('\n')) {
    const [before, after] = line.split(' - ')
    if (before?.split(' ')[2] !== number) continue
    const [fileSystem, , options] = (after ?? '').split(' ')
    if (fileSystem !== undefined) return { fileSystem, options: options?.split(',') ?? [] }
  }
  throw new CaptureError('MOUNT', path, `no mount of device ${number} is visible to this process`)
}

/** Directory of the device in sysfs, below that of its disk. */
async function folderOf(sysRoot: string, path: string, number: string, fileSystem: string): Promise<string> {
  try {
    return await realpath(join(sysRoot, 'sys/dev/block', number))
  } catch (cause) {
    const headline = `its ${fileSystem} is not mounted from a block device (${number})`
    throw new CaptureError('MOUNT', path, headline, { cause })
  }
}

/** Blocks of device mapper, md, bcache and loop devices are elsewhere on the underlying drives. */
async function refuseStacked(path: string, disk: string): Promise<void> {
  const name = basename(disk)
  const kinds = { dm: 'device mapper', md: 'md', loop: 'loop', bcache: 'bcache' }
  const entries = await readdir(disk)
  const kind = Object.entries(kinds).find(([entry]) => entries.includes(entry))?.[1]
  if (kind !== undefined) throw new CaptureError('STACKED', path, `${name} is a ${kind} device, stacked on others`)
  const below = entries.includes('slaves') ? await readdir(join(disk, 'slaves')) : []
  if (below.length > 0) throw new CaptureError('STACKED', path, `${name} is stacked on ${below.join(', ')}`)
}

function sectors(path: string, name: string, file: string, text: string | undefined): number {
  if (text !== undefined && /^\d{1,15}$/.test(text)) return Number(text) * SECTOR_BYTES
  throw new CaptureError('ANSWER', path, `sysfs has no ${file} for ${name}`)
}

/** Content without the newline; undefined if the file does not exist. */
async function textOf(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trimEnd()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** The C library's encoding of a device number in 64 bits: makedev(3). */
function major(device: bigint): bigint {
  return ((device >> 8n) & 0xfffn) | ((device >> 32n) & 0xfffff000n)
}

function minor(device: bigint): bigint {
  return (device & 0xffn) | ((device >> 12n) & 0xffffff00n)
}
