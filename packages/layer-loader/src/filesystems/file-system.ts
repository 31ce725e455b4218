import type { FileSystemLimits } from './limits.js'

/** A run of a file's bytes that is contiguous on the device. */
export interface DeviceExtent {
  readonly fileOffsetBytes: number
  /** Offset from the start of the source of the file system: the device, not the partition. */
  readonly deviceOffsetBytes: number
  readonly lengthBytes: number
}

/** Location of a file. */
export interface FileOnDisk {
  readonly path: string
  readonly sizeBytes: number
  /**
   * Extents in file order, merged if adjacent, without gaps from byte 0 to `sizeBytes`. The last one ends with the
   * file, usually inside a block. Empty for an empty file.
   */
  readonly extents: readonly DeviceExtent[]
}

/** Type of a directory entry. `other` covers devices, pipes and sockets. */
export type EntryKind = 'file' | 'directory' | 'symlink' | 'other'

/** An entry of a directory. */
export interface DirectoryEntry {
  /**
   * Bytes that are not UTF-8, or not ASCII in a short name of FAT, appear as U+FFFD; such a name cannot be looked up.
   */
  readonly name: string
  readonly kind: EntryKind
  /** Length of a file; for other kinds, the size that the file system records. */
  readonly sizeBytes: number
}

/** Supported file systems. */
export type FileSystemKind = 'ext4' | 'FAT32' | 'exFAT'

/** An unmounted file system, read through a source. It caches nothing and writes nothing. */
export interface FileSystem {
  readonly kind: FileSystemKind
  /** Volume label; empty if there is none. */
  readonly label: string
  /** Identifier as printed by blkid: the UUID of ext4, the serial number of FAT32 and exFAT. */
  readonly id: string
  /** Allocation unit: the block of ext4, the cluster of FAT32 and exFAT. */
  readonly blockBytes: number
  readonly totalBytes: number
  /** Lists a directory in its stored order, without . and .. @throws FileSystemError */
  list(path: string, options?: ReadOptions): Promise<readonly DirectoryEntry[]>
  /**
   * Locates a file. Symbolic links are followed if they are relative and stay inside the file system.
   * @throws FileSystemError if the path does not exist, the file cannot be read in place (for example, it has a hole or
   * is encrypted), or structures are damaged.
   */
  file(path: string, options?: ReadOptions): Promise<FileOnDisk>
}

/** Options of reads of metadata. */
export interface ReadOptions {
  readonly signal?: AbortSignal
}

/** Options of `openFileSystem`. */
export interface OpenFileSystemOptions extends ReadOptions {
  /** Location in the source, as returned by `findPartitions`. Default: the whole source. */
  readonly partition?: { readonly startBytes: number; readonly lengthBytes: number }
  /**
   * Reads FAT32 or exFAT that was not unmounted. Data that were being written may be wrong without notice. ext4 is
   * always refused in that state, since part of its data may be in the journal.
   */
  readonly allowDirty?: boolean
  readonly limits?: Partial<FileSystemLimits>
}
