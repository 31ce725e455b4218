import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { systemCode } from './file-store-blocks.js'
import { fileMemory } from './file-store-memory.js'

/**
 * The same file once more, past the system's cache (O_DIRECT, open(2)); why not, where it cannot be. A block is read to
 * find out: some file systems refuse the flag, others the first read.
 */
export async function reopenDirect(
  path: string,
  handle: FileHandle,
  blockBytes: number,
): Promise<FileHandle | DirectReadError> {
  // Declared for every system, and there on Linux alone.
  const flag = constants.O_DIRECT as number | undefined
  if (flag === undefined) return new DirectReadError(path, blockBytes, `${process.platform} has no O_DIRECT`)
  let direct: FileHandle | undefined
  try {
    // By its descriptor: what lies at the path may be another file by now.
    direct = await open(`/proc/self/fd/${handle.fd}`, constants.O_RDONLY | flag)
    // Not at the beginning of memory, which is aligned to more than a block.
    const { view } = fileMemory.alloc(2 * blockBytes)
    await direct.read(view!, blockBytes, blockBytes, 0)
    return direct
  } catch (cause) {
    await direct?.close()
    return new DirectReadError(path, blockBytes, systemCode(cause), cause)
  }
}

/** A file cannot be read past the system's cache. */
export class DirectReadError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_DIRECT_READ'
  readonly category = 'infeasible'
  readonly path: string
  /** What the system said. */
  readonly reason: string

  constructor(path: string, blockBytes: number, reason: string, cause?: unknown) {
    super(`Cannot read ${path} past the system's cache`, {
      facts: [`O_DIRECT in blocks of ${blockBytes} bytes: ${reason}`],
      next: "{ direct: 'auto' } reads through the cache where it must; a larger blockBytes, up to 65536, suits more drives",
      cause,
    })
    this.path = path
    this.reason = reason
  }
}
