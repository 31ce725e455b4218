import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { FileError, isSystemError, tryRead } from '../command-line/file-error.js'
import { printable } from '../terminal/printable.js'
import { ToolsError } from '../command-line/tools-error.js'
import type { OpenedTransport } from './opened-transport.js'

/** A process that has a file open. */
export interface FileUser {
  readonly pid: number
  /** Its name in the kernel: 'qemu-system-x86'. */
  readonly name: string
  readonly writes: boolean
}

/**
 * Claims an image file: no other process may write to it, or read it while it is written, be it another simulated
 * drive, QEMU, or a copy. The kernel is queried, so that killed processes leave no stale locks; processes of other
 * users are visible only to root.
 * @returns a function that ends the claim.
 * @throws ImageInUseError, FileError
 */
export function claimImage(path: string, access: 'read' | 'write'): () => void {
  // Opened before the check: of two concurrent processes, at least one then sees the other.
  const file = openImage(path, access)
  try {
    const users = usersOf(realpathSync(path)).filter(({ writes }) => writes || access === 'write')
    if (users.length > 0) throw new ImageInUseError(path, users)
    return () => closeSync(file)
  } catch (error) {
    closeSync(file)
    throw error
  }
}

function openImage(path: string, access: 'read' | 'write'): number {
  try {
    return openSync(path, access === 'read' ? 'r' : 'r+')
  } catch (error) {
    throw isSystemError(error) ? new FileError(`open ${printable(path)}`, error) : error
  }
}

/** Opens a drive that claims its image file until it is closed. @throws errors of `claimImage` and `use` */
export async function withClaimedImage<T extends OpenedTransport>(
  image: string,
  access: 'read' | 'write',
  use: () => Promise<T>,
): Promise<T> {
  const release = claimImage(image, access)
  try {
    const opened = await use()
    return { ...opened, close: () => opened.close().finally(release) }
  } catch (error) {
    release()
    throw error
  }
}

/**
 * Returns other processes that have the file open; none on systems other than Linux.
 * @param proc directory of the kernel's process data.
 */
export function usersOf(path: string, proc = '/proc'): readonly FileUser[] {
  const pids = (tryRead(() => readdirSync(proc)) ?? []).filter(
    (name) => /^\d+$/.test(name) && Number(name) !== process.pid,
  )
  // A process may have ended, or belong to another user.
  return pids.flatMap((pid) => tryRead(() => userOf(proc, pid, path)) ?? [])
}

function userOf(proc: string, pid: string, path: string): FileUser | undefined {
  const folder = `${proc}/${pid}`
  const flags = readdirSync(`${folder}/fd`).flatMap((fd) => {
    // It may have closed the file since.
    if (tryRead(() => readlinkSync(`${folder}/fd/${fd}`)) !== path) return []
    const [, octal = '0'] = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`${folder}/fdinfo/${fd}`, 'utf8')) ?? []
    return [Number.parseInt(octal, 8)]
  })
  if (flags.length === 0) return undefined
  const name = readFileSync(`${folder}/comm`, 'utf8').trim()
  // O_ACCMODE is 3, and O_RDONLY is 0.
  return { pid: Number(pid), name, writes: flags.some((each) => (each & 3) !== 0) }
}

/** Error of an image file that another process has open. Nothing was changed. */
export class ImageInUseError extends ToolsError {
  constructor(path: string, users: readonly FileUser[]) {
    super('ERR_GPUNVME_IMAGE_IN_USE', 'privilege', `Cannot use ${printable(path)}: another process has it open`, {
      facts: users.map(
        ({ pid, name, writes }) => `process ${pid} (${printable(name)}) ${writes ? 'writes to' : 'reads'} it`,
      ),
      next: 'end that process, or use another --image; several may use one file if all only read it',
    })
  }
}
