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
export {
  findPartitions,
  type FindPartitionsOptions,
  type Partition,
  type PartitionTable,
} from './partitions/find-partitions.js'
export { captureFileExtents, EDGE_BYTES, type CapturedFile, type CaptureOptions } from './captured/capture.js'
export { CaptureError, type CaptureProblem } from './captured/capture-error.js'
export { decodeFileMap, encodeFileMap } from './captured/file-map.js'
export type { CapturedDevice } from './captured/mounted-device.js'
export { checkCapturedFile, openCapturedFile } from './captured/open-captured.js'
