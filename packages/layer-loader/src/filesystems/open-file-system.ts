import type { ByteSource } from '../formats/byte-source.js'
import { isExFat, openExFat } from './exfat/exfat.js'
import { isExt4, openExt4 } from './ext4/ext4.js'
import { isFat, openFat32 } from './fat/fat32.js'
import type { FileSystem, OpenFileSystemOptions } from './file-system.js'
import { Volume } from './volume.js'

/**
 * Opens the file system on a device, detected by content. Only reads. The file system must not be mounted or written
 * meanwhile.
 *
 * @throws FileSystemError for an unknown, mounted, damaged or unsupported file system; RangeError for a partition
 * outside the source; errors of `source.read`.
 */
export async function openFileSystem(source: ByteSource, options: OpenFileSystemOptions = {}): Promise<FileSystem> {
  const volume = new Volume(source, options)
  if (await isExt4(volume, options)) return openExt4(volume, options)
  if (await isExFat(volume, options)) return openExFat(volume, options)
  if (await isFat(volume, options)) return openFat32(volume, options)
  throw volume.error('UNKNOWN', 'it is not ext4, FAT32 or exFAT')
}
