import type { FileSystemLimits } from './limits.js'

/** A run of a file's bytes that lie side by side on the device. */
export interface DeviceExtent {
  readonly fileOffsetBytes: number
  /** From the start of the source that the file system was opened on: of the device, not of the partition. */
  readonly deviceOffsetBytes: number
  readonly lengthBytes: number
}

/** Where a file's bytes are. */
export interface FileOnDisk {
  readonly path: string
  readonly sizeBytes: number
  /**
   * In file order, adjacent runs merged, without gaps from byte 0 to `sizeBytes`: the last ends where the file does, in
   * the middle of a block as a rule. Empty for an empty file.
   */
  readonly extents: readonly DeviceExtent[]
}

/** What a name in a directory stands for. `other` are devices, pipes and sockets. */
export type EntryKind = 'file' | 'directory' | 'symlink' | 'other'

/** One name in a directory. */
export interface DirectoryEntry {
  /** Bytes that are no UTF-8, or no character of ASCII in a short name of FAT, stand as U+FFFD, and find nothing. */
  readonly name: string
  readonly kind: EntryKind
  /** Of a file; of everything else, what the file system says of it. */
  readonly sizeBytes: number
}

/** The file systems that files are found in. */
export type FileSystemKind = 'ext4' | 'FAT32' | 'exFAT'

/** A file system that nobody has mounted, read through a source. Nothing is kept between calls, and nothing written. */
export interface FileSystem {
  readonly kind: FileSystemKind
  /** Empty where it has none. */
  readonly label: string
  /** As blkid prints it: the UUID of an ext4, the serial number of a FAT32 or an exFAT. */
  readonly id: string
  /** What files are allocated in: the block of an ext4, the cluster of a FAT32 or an exFAT. */
  readonly blockBytes: number
  readonly totalBytes: number
  /** What is in a directory, in its own order, without . and .. @throws FileSystemError */
  list(path: string, options?: ReadOptions): Promise<readonly DirectoryEntry[]>
  /**
   * Where a file is. Symbolic links are followed where their target is relative and inside the file system.
   * @throws FileSystemError for a path that leads nowhere, for a file that cannot be read in place - it has a hole, or
   *   is encrypted - and for structures that are damaged.
   */
  file(path: string, options?: ReadOptions): Promise<FileOnDisk>
}

export interface ReadOptions {
  readonly signal?: AbortSignal
}

/** How a file system is opened. */
export interface OpenFileSystemOptions extends ReadOptions {
  /** Where it lies in the source, as `findPartitions` says; the whole source when not given. */
  readonly partition?: { readonly startBytes: number; readonly lengthBytes: number }
  /**
   * Reads a FAT32 or an exFAT that was not unmounted; what was being written then may be wrong without a sign of it. An
   * ext4 in that state is always refused: its truth is partly in its journal.
   */
  readonly allowDirty?: boolean
  readonly limits?: Partial<FileSystemLimits>
}
