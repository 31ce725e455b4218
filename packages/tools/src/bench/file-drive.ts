import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { attempting } from '../command-line/file-error.js'
import { UsageError } from '../command-line/tools-error.js'
import type { BaselineTarget } from './baseline-bench.js'

/** Smallest O_DIRECT block of most file systems. */
const BLOCK_BYTES = 512

/** A regular file in place of a drive, for baselines: includes the file system. */
export async function fileTarget(path: string): Promise<BaselineTarget> {
  const found = await attempting(`measure ${path}`, () => stat(path))
  if (!found.isFile()) {
    throw new UsageError(`${path} is not a regular file`, { next: 'a drive is named by --drive, a file by --file' })
  }
  return {
    path,
    transport: 'file',
    drive: {
      model: `the file ${basename(path)}`,
      firmware: 'none',
      capacityBytes: Math.floor(found.size / BLOCK_BYTES) * BLOCK_BYTES,
      blockBytes: BLOCK_BYTES,
    },
    link: undefined,
    smartLog: undefined,
    notes: ['A file was read with O_DIRECT: the results include its file system and its drive.'],
  }
}
