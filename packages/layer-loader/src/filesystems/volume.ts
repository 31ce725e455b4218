import { GpuNvmeError, type ErrorCategory } from '@gpunvme/nvme-spec/error'
import { checkRange, type ByteSource } from '../formats/byte-source.js'
import { ExtentList } from './extent-list.js'
import type { DeviceExtent, OpenFileSystemOptions, ReadOptions } from './file-system.js'
import { resolveFileSystemLimits, type FileSystemLimits } from './limits.js'

/** The part of a source that holds a file system, with limits for memory. Its content is untrusted. */
export class Volume {
  readonly source: ByteSource
  readonly startBytes: number
  readonly sizeBytes: number
  readonly limits: FileSystemLimits
  readonly allowDirty: boolean

  /** @throws RangeError for a partition outside the source, and for an invalid limit. */
  constructor(source: ByteSource, { partition, limits, allowDirty = false }: OpenFileSystemOptions = {}) {
    this.source = source
    this.startBytes = partition?.startBytes ?? 0
    this.sizeBytes = partition?.lengthBytes ?? source.sizeBytes
    this.limits = resolveFileSystemLimits(limits)
    this.allowDirty = allowDirty
    checkRange(source, this.startBytes, this.sizeBytes)
  }

  /** Reads bytes of the file system into new memory. @throws FileSystemError for a range past its end. */
  async read(offsetBytes: number, lengthBytes: number, { signal }: ReadOptions = {}): Promise<DataView> {
    this.checkInside(offsetBytes, lengthBytes)
    const bytes = new Uint8Array(lengthBytes)
    await this.source.read(this.startBytes + offsetBytes, bytes, signal && { signal })
    return new DataView(bytes.buffer)
  }

  /** Reads a whole directory or another small file. The caller has checked its length against a limit. */
  async readExtents(extents: readonly DeviceExtent[], options: ReadOptions = {}): Promise<DataView> {
    const { signal } = options
    const bytes = new Uint8Array(extents.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0))
    for (const { fileOffsetBytes, deviceOffsetBytes, lengthBytes } of extents) {
      const part = bytes.subarray(fileOffsetBytes, fileOffsetBytes + lengthBytes)
      await this.source.read(deviceOffsetBytes, part, signal && { signal })
    }
    return new DataView(bytes.buffer)
  }

  /** Creates an empty list for the runs of a file of this volume. */
  extentList(sizeBytes: number): ExtentList {
    return new ExtentList(this, sizeBytes)
  }

  /** @throws FileSystemError for a structure that points outside the volume. */
  checkInside(offsetBytes: number, lengthBytes: number): void {
    const inside = Number.isSafeInteger(offsetBytes) && offsetBytes >= 0 && lengthBytes <= this.sizeBytes - offsetBytes
    if (inside) return
    throw this.error('DAMAGED', `it points to ${lengthBytes} bytes from byte ${offsetBytes}`, [
      `the volume has ${this.sizeBytes} bytes`,
    ])
  }

  /** @throws FileSystemError that names the field with the invalid value. */
  require(holds: boolean, what: string, expected: string, got: number | bigint | string): void {
    if (holds) return
    throw this.error('DAMAGED', `${what} is invalid`, [`expected ${expected}`, `got ${got}`])
  }

  /** Like `require`, for a field with one valid value: a checksum, a magic number. */
  requireValue(what: string, expected: number, got: number): void {
    this.require(got === expected, what, `0x${expected.toString(16)}`, `0x${got.toString(16)}`)
  }

  /** @throws FileSystemError for a directory that exceeds the limit for memory. */
  checkDirectoryLength(lengthBytes: number, max = this.limits.maxDirectoryBytes): void {
    if (lengthBytes <= max) return
    throw this.error('LIMIT', 'a directory is too long', [`at most ${max} bytes`, `got ${lengthBytes} bytes`])
  }

  error(problem: FileSystemProblem, headline: string, facts: readonly string[] = []): FileSystemError {
    const place = `in the ${this.sizeBytes} bytes from byte ${this.startBytes} of ${this.source.name}`
    return new FileSystemError(problem, this.source.name, headline, [...facts, place])
  }
}

/** Problems, each with a kind of error and a remedy. The code is `ERR_GPUNVME_FILE_SYSTEM_<PROBLEM>`. */
const FILE_SYSTEM_PROBLEMS = {
  UNKNOWN: ['infeasible', 'pass the partition of the file system; findPartitions lists them'],
  UNSUPPORTED: [
    'infeasible',
    'copy the file to an ext4, FAT32 or exFAT file system without that feature, or pack it to a namespace',
  ],
  UNCLEAN: ['infeasible', 'unmount it, or check it with fsck; if the drive was unplugged, mount and unmount it once'],
  DAMAGED: ['verification', 'check the file system with fsck, then copy the file again'],
  LIMIT: ['infeasible', 'raise the limit in the options of openFileSystem if you trust the file system'],
  NOT_FOUND: ['not-found', 'list the directory; names are case-sensitive on ext4'],
  NOT_A_DIRECTORY: ['usage', 'list the directory above it'],
  NOT_A_FILE: ['usage', 'name a regular file'],
  LINK: ['usage', 'name the file itself'],
  HOLE: ['infeasible', 'copy the file without holes: cp --sparse=never'],
  UNWRITTEN: ['infeasible', 'copy the file: its blocks are allocated but unwritten'],
  ENCRYPTED: ['infeasible', 'copy the file to a directory that is not encrypted'],
  INLINE: ['infeasible', 'read it through the kernel: a file this small has no blocks of its own'],
  BLOCK_MAP: ['infeasible', 'copy the file on an ext4 with extents: chattr +e converts it in place'],
} as const satisfies Record<string, readonly [ErrorCategory, string]>

/** Codes of the reasons why a file system cannot be read. */
export type FileSystemProblem = keyof typeof FILE_SYSTEM_PROBLEMS

/** Error of a file system, or a file in it, that cannot be read in place. `code` names the problem. */
export class FileSystemError extends GpuNvmeError {
  readonly code: `ERR_GPUNVME_FILE_SYSTEM_${FileSystemProblem}`
  readonly category: ErrorCategory
  readonly sourceName: string

  constructor(problem: FileSystemProblem, sourceName: string, headline: string, facts: readonly string[] = []) {
    const [category, next] = FILE_SYSTEM_PROBLEMS[problem]
    super(`Cannot read the file system on ${sourceName}: ${headline}`, { facts, next })
    this.code = `ERR_GPUNVME_FILE_SYSTEM_${problem}`
    this.category = category
    this.sourceName = sourceName
  }
}
