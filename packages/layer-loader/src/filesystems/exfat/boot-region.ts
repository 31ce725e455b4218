import { ascii, bytes, inHex, n64, struct, u16, u32, u8 } from '@gpunvme/nvme-spec/layout'
import type { ReadOptions } from '../file-system.js'
import type { Volume } from '../volume.js'

/** The fields that this reader uses. */
export const EXFAT_BOOT_SECTOR = struct(
  'EXFAT_BOOT_SECTOR',
  { bytes: 512, doc: 'Main Boot Sector', spec: 'vendor Microsoft exFAT 1.00 §3.1' },
  {
    FILE_SYSTEM_NAME: ascii(3, 8, 'EXFAT and three spaces'),
    MUST_BE_ZERO: bytes(11, 53, 'Zero, in place of the BPB of a FAT'),
    VOLUME_LENGTH: n64(72, 'Sectors of the volume'),
    FAT_OFFSET: u32(80, 'Sector where the first FAT begins'),
    FAT_LENGTH: u32(84, 'Sectors of one FAT'),
    CLUSTER_HEAP_OFFSET: u32(88, 'Sector where the cluster heap begins'),
    CLUSTER_COUNT: u32(92, 'Clusters of the cluster heap'),
    FIRST_CLUSTER_OF_ROOT_DIRECTORY: u32(96, 'First cluster of the root directory'),
    VOLUME_SERIAL_NUMBER: u32(100, 'Volume serial number'),
    FILE_SYSTEM_REVISION: inHex(u16(104, 'Major revision in the high byte')),
    VOLUME_FLAGS: inHex(u16(106, 'Bit 0 ActiveFat, bit 1 VolumeDirty, bit 2 MediaFailure')),
    BYTES_PER_SECTOR_SHIFT: u8(108, 'A sector is 2 ^ n bytes'),
    SECTORS_PER_CLUSTER_SHIFT: u8(109, 'A cluster is 2 ^ n sectors'),
    NUMBER_OF_FATS: u8(110, 'FATs, and allocation bitmaps'),
    BOOT_SIGNATURE: inHex(u16(510, 'aa55h')),
  },
)

/** Sectors covered by the checksum, which is stored in the next one. (§3.4) */
const CHECKED_SECTORS = 11

/** VolumeFlags and PercentInUse change while a volume is in use, so the checksum excludes them. */
const UNCHECKED_BYTES: ReadonlySet<number> = new Set([106, 107, 112])

const VOLUME_FLAGS = { ACTIVE_FAT: 1, DIRTY: 2, MEDIA_FAILURE: 4 } as const

/** Checked content of a boot sector. */
export interface ExFatBootRegion {
  readonly clusterBytes: number
  readonly clusters: number
  readonly tableOffsetBytes: number
  readonly heapOffsetBytes: number
  readonly totalBytes: number
  readonly rootCluster: number
  readonly serial: number
}

/** Returns whether the volume is an exFAT file system. */
export async function isExFat(volume: Volume, options: ReadOptions): Promise<boolean> {
  if (volume.sizeBytes < EXFAT_BOOT_SECTOR.bytes) return false
  const view = EXFAT_BOOT_SECTOR.view(await volume.read(0, EXFAT_BOOT_SECTOR.bytes, options))
  return view.FILE_SYSTEM_NAME === 'EXFAT' && view.BOOT_SIGNATURE === 0xaa55
}

/** @throws FileSystemError for a damaged boot region, and for a volume that was not unmounted. */
export async function readBootRegion(volume: Volume, options: ReadOptions): Promise<ExFatBootRegion> {
  const view = EXFAT_BOOT_SECTOR.view(await volume.read(0, EXFAT_BOOT_SECTOR.bytes, options))
  const shift = view.BYTES_PER_SECTOR_SHIFT
  volume.require(shift >= 9 && shift <= 12, 'BytesPerSectorShift', '9 to 12', shift)
  await checkChecksum(volume, 2 ** shift, options)
  const major = view.FILE_SYSTEM_REVISION >>> 8
  if (major !== 1) throw volume.error('UNSUPPORTED', `it is exFAT revision ${major}`)
  const isZero = view.MUST_BE_ZERO.every((byte) => byte === 0)
  volume.require(isZero, 'MustBeZero', 'zeros', 'something else')
  checkFlags(volume, view.VOLUME_FLAGS)

  const clusterShift = view.SECTORS_PER_CLUSTER_SHIFT
  volume.require(clusterShift <= 25 - shift, 'SectorsPerClusterShift', `0 to ${25 - shift}`, clusterShift)
  const sectors = view.VOLUME_LENGTH
  const max = Math.floor(volume.sizeBytes / 2 ** shift)
  volume.require(sectors > 0 && sectors <= max, 'VolumeLength', `1 to ${max}, the length of the device`, sectors)
  const tables = view.NUMBER_OF_FATS
  volume.require(tables === 1 || tables === 2, 'NumberOfFats', '1 or 2', tables)
  const active = view.VOLUME_FLAGS & VOLUME_FLAGS.ACTIVE_FAT
  volume.require(active < tables, 'ActiveFat', `below ${tables}`, active)
  const clusters = view.CLUSTER_COUNT
  const maxClusters = Math.floor((sectors - view.CLUSTER_HEAP_OFFSET) / 2 ** clusterShift)
  const clustersAreSound = clusters > 0 && clusters <= Math.min(maxClusters, 0xffff_fff5)
  volume.require(clustersAreSound, 'ClusterCount', `1 to ${maxClusters}`, clusters)
  const tableSectors = view.FAT_LENGTH
  const needed = Math.ceil(((clusters + 2) * 4) / 2 ** shift)
  volume.require(tableSectors >= needed, 'FatLength', `at least ${needed}`, tableSectors)
  const tableOffset = view.FAT_OFFSET
  volume.require(tableOffset >= 24, 'FatOffset', 'at least 24', tableOffset)
  const heap = view.CLUSTER_HEAP_OFFSET
  const afterTables = tableOffset + tableSectors * tables
  volume.require(heap >= afterTables, 'ClusterHeapOffset', `at least ${afterTables}`, heap)
  return {
    clusterBytes: 2 ** (shift + clusterShift),
    clusters,
    tableOffsetBytes: (tableOffset + active * tableSectors) * 2 ** shift,
    heapOffsetBytes: heap * 2 ** shift,
    totalBytes: sectors * 2 ** shift,
    rootCluster: view.FIRST_CLUSTER_OF_ROOT_DIRECTORY,
    serial: view.VOLUME_SERIAL_NUMBER,
  }
}

function checkFlags(volume: Volume, flags: number): void {
  if (volume.allowDirty) return
  const facts = [`VolumeFlags 0x${flags.toString(16)}`]
  if (flags & VOLUME_FLAGS.DIRTY) throw volume.error('UNCLEAN', 'it was not unmounted (VolumeDirty)', facts)
  if (flags & VOLUME_FLAGS.MEDIA_FAILURE) {
    throw volume.error('UNCLEAN', 'disk errors were recorded while it was mounted (MediaFailure)', facts)
  }
}

async function checkChecksum(volume: Volume, sectorBytes: number, options: ReadOptions): Promise<void> {
  const region = await volume.read(0, (CHECKED_SECTORS + 1) * sectorBytes, options)
  let sum = 0
  for (let at = 0; at < CHECKED_SECTORS * sectorBytes; at++) {
    if (!UNCHECKED_BYTES.has(at)) sum = ((sum << 31) | (sum >>> 1)) + region.getUint8(at)
  }
  for (let at = CHECKED_SECTORS * sectorBytes; at < region.byteLength; at += 4) {
    volume.requireValue('the checksum of the main boot region', sum >>> 0, region.getUint32(at, true))
  }
}
