import { ascii, bytes, inHex, struct, u16, u32, u8, type Values } from '@gpunvme/nvme-spec/layout'
import type { ReadOptions } from '../file-system.js'
import type { Volume } from '../volume.js'

/** The fields that this reader uses. */
export const FAT32_BOOT_SECTOR = struct(
  'FAT32_BOOT_SECTOR',
  { bytes: 512, doc: 'Boot sector and BPB', spec: 'vendor Microsoft FAT32 1.03 Boot Sector and BPB Structure' },
  {
    JMPBOOT: bytes(0, 3, 'Jump instruction to boot code'),
    BYTSPERSEC: u16(11, 'Count of bytes per sector'),
    SECPERCLUS: u8(13, 'Number of sectors per allocation unit'),
    RSVDSECCNT: u16(14, 'Number of reserved sectors, starting with the first'),
    NUMFATS: u8(16, 'Count of FAT data structures'),
    ROOTENTCNT: u16(17, 'Count of entries in the root directory; 0 on FAT32'),
    TOTSEC16: u16(19, 'Total count of sectors; 0 on FAT32'),
    FATSZ16: u16(22, 'Sectors of one FAT; 0 on FAT32'),
    TOTSEC32: u32(32, 'Total count of sectors'),
    FATSZ32: u32(36, 'Sectors of one FAT'),
    EXTFLAGS: inHex(u16(40, 'Bit 7: only one FAT is active, the one in bits 3:0')),
    FSVER: u16(42, 'Version number; 0'),
    ROOTCLUS: u32(44, 'First cluster of the root directory'),
    RESERVED1: u8(65, 'Linux sets bit 0 while the volume is mounted'),
    BOOTSIG: inHex(u8(66, 'Extended boot signature, 29h')),
    VOLID: u32(67, 'Volume serial number'),
    VOLLAB: ascii(71, 11, 'Volume label'),
    SIGNATURE: inHex(u16(510, 'aa55h')),
  },
)

/** Checked content of a boot sector. */
export interface Fat32BootSector {
  readonly sectorBytes: number
  readonly clusterBytes: number
  readonly clusters: number
  /** Offsets of the copies of the table that are kept up to date. The first is the active one. */
  readonly tableOffsetsBytes: readonly number[]
  readonly heapOffsetBytes: number
  readonly totalBytes: number
  readonly rootCluster: number
  readonly isMarkedMounted: boolean
  readonly label: string
  readonly serial: number
}

/** Returns whether there is a FAT boot sector, by its jump instruction and by sizes that must be powers of two. */
export async function isFat(volume: Volume, options: ReadOptions): Promise<boolean> {
  if (volume.sizeBytes < FAT32_BOOT_SECTOR.bytes) return false
  const view = FAT32_BOOT_SECTOR.view(await volume.read(0, FAT32_BOOT_SECTOR.bytes, options))
  const [first] = view.JMPBOOT
  return (
    (first === 0xeb || first === 0xe9) &&
    view.SIGNATURE === 0xaa55 &&
    [512, 1024, 2048, 4096].includes(view.BYTSPERSEC) &&
    [1, 2, 4, 8, 16, 32, 64, 128].includes(view.SECPERCLUS) &&
    view.RSVDSECCNT > 0 &&
    view.NUMFATS > 0
  )
}

/** @throws FileSystemError for a damaged boot sector, and for FAT12 and FAT16. */
export async function readBootSector(volume: Volume, options: ReadOptions): Promise<Fat32BootSector> {
  const view = FAT32_BOOT_SECTOR.view(await volume.read(0, FAT32_BOOT_SECTOR.bytes, options))
  const sectorBytes = view.BYTSPERSEC
  const clusterBytes = sectorBytes * view.SECPERCLUS
  refuseSmallFat(volume, view, clusterBytes)
  volume.require(view.FSVER === 0, 'BPB_FSVer', '0', view.FSVER)
  const tables = view.NUMFATS
  volume.require(tables <= 2, 'BPB_NumFATs', '1 or 2', tables)
  const tableSectors = view.FATSZ32
  const heapSector = view.RSVDSECCNT + tables * tableSectors
  const sectors = view.TOTSEC32
  const maxSectors = Math.floor(volume.sizeBytes / sectorBytes)
  const fits = sectors > heapSector && sectors <= maxSectors
  volume.require(fits, 'BPB_TotSec32', `${heapSector + 1} to ${maxSectors}, the length of the device`, sectors)
  const clusters = Math.floor((sectors - heapSector) / view.SECPERCLUS)
  const maxClusters = Math.min((tableSectors * sectorBytes) / 4 - 2, 0x0fff_fff5)
  volume.require(clusters > 0, 'BPB_TotSec32', 'at least one cluster', sectors)
  volume.require(clusters <= maxClusters, 'BPB_FATSz32', `entries for ${clusters} clusters`, maxClusters)
  const offsets = Array.from({ length: tables }, (_, copy) => (view.RSVDSECCNT + copy * tableSectors) * sectorBytes)
  const isMirrored = (view.EXTFLAGS & 0x80) === 0
  const active = isMirrored ? 0 : view.EXTFLAGS & 0xf
  volume.require(active < tables, 'BPB_ExtFlags', `an active FAT below ${tables}`, active)
  return {
    sectorBytes,
    clusterBytes,
    clusters,
    tableOffsetsBytes: isMirrored ? offsets : [offsets[active]!],
    heapOffsetBytes: heapSector * sectorBytes,
    totalBytes: sectors * sectorBytes,
    rootCluster: view.ROOTCLUS,
    isMarkedMounted: (view.RESERVED1 & 1) !== 0,
    label: view.BOOTSIG === 0x29 && view.VOLLAB !== 'NO NAME' ? view.VOLLAB : '',
    serial: view.BOOTSIG === 0x29 ? view.VOLID : 0,
  }
}

/**
 * Recognises FAT32 by the fields that only FAT32 sets to 0, as Linux and Windows do. The count of clusters then
 * distinguishes FAT12 from FAT16. ("FAT Type Determination")
 */
function refuseSmallFat(volume: Volume, view: Values<typeof FAT32_BOOT_SECTOR.fields>, clusterBytes: number): void {
  if (view.FATSZ16 === 0 && view.ROOTENTCNT === 0 && view.TOTSEC16 === 0) return
  const sectors = view.TOTSEC16 === 0 ? view.TOTSEC32 : view.TOTSEC16
  const sectorBytes = view.BYTSPERSEC
  const used = view.RSVDSECCNT + view.NUMFATS * view.FATSZ16 + Math.ceil((view.ROOTENTCNT * 32) / sectorBytes)
  const clusters = Math.floor(((sectors - used) * sectorBytes) / clusterBytes)
  throw volume.error('UNSUPPORTED', `it is ${clusters < 4085 ? 'FAT12' : 'FAT16'}`, [`${clusters} clusters`])
}
