/** How much is accepted from a file system that nobody vouches for. Checked before anything is allocated. */
export interface FileSystemLimits {
  /** Bytes of one directory. A FAT32 cannot have more than 2 MiB, whatever is allowed here. */
  readonly maxDirectoryBytes: number
  /** Runs of one file or directory, after adjacent ones were merged. */
  readonly maxExtents: number
}

/** A directory of some hundred thousand names, and a 4 TB file in pieces of 4 MiB. */
export const DEFAULT_FILE_SYSTEM_LIMITS: FileSystemLimits = {
  maxDirectoryBytes: 64 * 1024 * 1024,
  maxExtents: 1_000_000,
}

/** @throws RangeError for a limit that is not a whole number of at least 0. */
export function resolveFileSystemLimits(limits: Partial<FileSystemLimits> = {}): FileSystemLimits {
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isSafeInteger(value) || value < 0) {
      throw new RangeError(`limits.${name}: expected a whole number of at least 0, got ${value}`)
    }
  }
  return { ...DEFAULT_FILE_SYSTEM_LIMITS, ...limits }
}
