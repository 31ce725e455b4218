import type { ByteSource } from '../formats/byte-source.js'
import { isExFat, openExFat } from './exfat/exfat.js'
import { isExt4, openExt4 } from './ext4/ext4.js'
import { isFat, openFat32 } from './fat/fat32.js'
import type { FileSystem, OpenFileSystemOptions } from './file-system.js'
import { Volume } from './volume.js'

/**
 * Opens the file system on a device by what is there, whatever the partition table says. Nothing is written, and nobody
 * else may write meanwhile: it must not be mounted.
 *
 * @throws FileSystemError for a file system that is not known, not unmounted, damaged, or has what is not read here;
 *   RangeError for a partition that is not inside the source; what `source.read` throws.
 */
export async function openFileSystem(source: ByteSource, options: OpenFileSystemOptions = {}): Promise<FileSystem> {
  const volume = new Volume(source, options)
  if (await isExt4(volume, options)) return openExt4(volume, options)
  if (await isExFat(volume, options)) return openExFat(volume, options)
  if (await isFat(volume, options)) return openFat32(volume, options)
  throw volume.error('UNKNOWN', 'it is no ext4, FAT32 or exFAT')
}
