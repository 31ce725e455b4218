/** Limits for untrusted file systems, checked before memory is allocated. */
export interface FileSystemLimits {
  /** Maximum bytes of a directory. FAT32 never exceeds 2 MiB. */
  readonly maxDirectoryBytes: number
  /** Maximum runs of a file or directory, after merging adjacent ones. */
  readonly maxExtents: number
}

/** Enough for a directory of some hundred thousand names, and a 4 TB file in pieces of 4 MiB. */
export const DEFAULT_FILE_SYSTEM_LIMITS: FileSystemLimits = {
  maxDirectoryBytes: 64 * 1024 * 1024,
  maxExtents: 1_000_000,
}

/** @throws RangeError for a limit that is not an integer of at least 0. */
export function resolveFileSystemLimits(limits: Partial<FileSystemLimits> = {}): FileSystemLimits {
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isSafeInteger(value) || value < 0) {
      throw new RangeError(`limits.${name}: expected an integer of at least 0, got ${value}`)
    }
  }
  return { ...DEFAULT_FILE_SYSTEM_LIMITS, ...limits }
}
