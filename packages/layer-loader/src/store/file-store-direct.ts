import { LoaderError } from '../error.js'
import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { systemCode } from './file-store-blocks.js'
import { fileMemory } from './file-store-memory.js'

/**
 * Reopens the file with O_DIRECT (open(2)), which bypasses the page cache, or returns an error. It reads one block to
 * find out: some file systems reject the flag, others the first read.
 */
export async function reopenDirect(
  path: string,
  handle: FileHandle,
  blockBytes: number,
): Promise<FileHandle | LoaderError> {
  // Declared for all systems, but only present on Linux.
  const flag = constants.O_DIRECT as number | undefined
  if (flag === undefined) return noDirectRead(path, blockBytes, `${process.platform} has no O_DIRECT`)
  let direct: FileHandle | undefined
  try {
    // By descriptor: the path may now refer to another file.
    direct = await open(`/proc/self/fd/${handle.fd}`, constants.O_RDONLY | flag)
    // Not at the start of memory, whose alignment exceeds a block.
    const { view } = fileMemory.alloc(2 * blockBytes)
    await direct.read(view!, blockBytes, blockBytes, 0)
    return direct
  } catch (cause) {
    await direct?.close()
    return noDirectRead(path, blockBytes, systemCode(cause), cause)
  }
}

/** Error of a file that cannot be read with O_DIRECT. */
export function noDirectRead(path: string, blockBytes: number, reason: string, cause?: unknown): LoaderError {
  return new LoaderError('ERR_GPUNVME_DIRECT_READ', 'infeasible', `Cannot read ${path} with O_DIRECT`, {
    facts: [`with blocks of ${blockBytes} bytes: ${reason}`],
    next: "use { direct: 'auto' }, which falls back to the page cache; or raise blockBytes, up to 65536, which more drives support",
    cause,
  })
}
