import { readdir, readFile, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CaptureError } from './capture-error.js'

/** sysfs counts in these, whatever the device's blocks are. */
const SECTOR_BYTES = 512

/** The drive that a file is on, as Linux names it. */
export interface CapturedDevice {
  /** nvme0n1 */
  readonly disk: string
  /** nvme0n1p2; absent where the file system has the whole disk. */
  readonly partition?: string
  readonly fileSystem: string
}

/** Where a file system lies that is mounted. */
export interface MountedDevice {
  readonly device: CapturedDevice
  readonly partitionStartBytes: number
  readonly partitionBytes: number
}

/** Those whose answers are offsets on one device, and whose files stay where they are while nobody writes to them. */
const FILE_SYSTEMS: ReadonlySet<string> = new Set(['ext2', 'ext3', 'ext4', 'xfs'])

/** Options of a mount with which bytes are not where the file's own map says, or on another device. */
const REFUSED_OPTIONS: readonly (readonly [option: RegExp, why: string])[] = [
  [/^data=journal$/, 'its data may be in the journal only (data=journal)'],
  [/^rtdev=/, 'its data may be on a second device (rtdev)'],
]

/**
 * What a file system is mounted from, by the number of its device.
 * @param deviceNumber `st_dev` of a file.
 * @throws CaptureError for what is no partition of a drive, and for file systems whose answers are no places on it.
 */
export async function mountedDevice(sysRoot: string, path: string, deviceNumber: bigint): Promise<MountedDevice> {
  const number = `${major(deviceNumber)}:${minor(deviceNumber)}`
  const { fileSystem, options } = await mountOf(sysRoot, path, number)
  if (!FILE_SYSTEMS.has(fileSystem)) {
    throw new CaptureError('MOUNT', path, `it is on ${fileSystem}, whose files move or are on several devices`)
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

/** proc_pid_mountinfo(5): fields before a dash that are always there, then the type, the source, and its options. */
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
  throw new CaptureError('MOUNT', path, `no mount of device ${number} is seen from here`)
}

/** Its folder in sysfs, below the one of its disk. */
async function folderOf(sysRoot: string, path: string, number: string, fileSystem: string): Promise<string> {
  try {
    return await realpath(join(sysRoot, 'sys/dev/block', number))
  } catch (cause) {
    const headline = `its ${fileSystem} is not mounted from a block device (${number})`
    throw new CaptureError('MOUNT', path, headline, { cause })
  }
}

/** Device mapper, md, bcache and loop devices have their blocks elsewhere on the drives below them. */
async function refuseStacked(path: string, disk: string): Promise<void> {
  const name = basename(disk)
  const kinds = { dm: 'device mapper', md: 'md', loop: 'loop', bcache: 'bcache' }
  const entries = await readdir(disk)
  const kind = Object.entries(kinds).find(([entry]) => entries.includes(entry))?.[1]
  if (kind !== undefined) throw new CaptureError('STACKED', path, `${name} is a device of ${kind}, on top of others`)
  const below = entries.includes('slaves') ? await readdir(join(disk, 'slaves')) : []
  if (below.length > 0) throw new CaptureError('STACKED', path, `${name} is on top of ${below.join(', ')}`)
}

function sectors(path: string, name: string, file: string, text: string | undefined): number {
  if (text !== undefined && /^\d{1,15}$/.test(text)) return Number(text) * SECTOR_BYTES
  throw new CaptureError('ANSWER', path, `sysfs has no ${file} of ${name}`)
}

/** Without the line's end; undefined where there is no such file. */
async function textOf(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trimEnd()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** As the C library packs a device number into 64 bits: makedev(3). */
function major(device: bigint): bigint {
  return ((device >> 8n) & 0xfffn) | ((device >> 32n) & 0xfffff000n)
}

function minor(device: bigint): bigint {
  return (device & 0xffn) | ((device >> 12n) & 0xffffff00n)
}
