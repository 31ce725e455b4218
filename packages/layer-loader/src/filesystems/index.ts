export { fileOnDiskSource } from './file-source.js'
export type {
  DeviceExtent,
  DirectoryEntry,
  EntryKind,
  FileOnDisk,
  FileSystem,
  FileSystemKind,
  OpenFileSystemOptions,
  ReadOptions,
} from './file-system.js'
export { DEFAULT_FILE_SYSTEM_LIMITS, type FileSystemLimits } from './limits.js'
export { openFileSystem } from './open-file-system.js'
export { FileSystemError, type FileSystemProblem } from './volume.js'
