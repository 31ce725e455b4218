import { open, readdir, readFile, readlink, realpath } from 'node:fs/promises'
import { attempting, isSystemError } from '../command-line/file-error.js'
import { printable } from '../terminal/printable.js'
import { ToolsError } from '../command-line/tools-error.js'

/** A process that has a file open. */
export interface FileUser {
  readonly pid: number
  /** Its name in the kernel: 'qemu-system-x86'. */
  readonly name: string
  readonly writes: boolean
}

/**
 * Lends an image file exclusively: no other process may write to it, or read it while it is written, be it another
 * simulated drive, QEMU, or a copy. The kernel is queried, so that killed processes leave no stale locks; processes of
 * other users are visible only to root.
 * @throws ImageInUseError, FileError
 */
export async function withImageAlone<T>(path: string, access: 'read' | 'write', use: () => Promise<T>): Promise<T> {
  // Opened before the check: of two concurrent processes, at least one then sees the other.
  const file = await attempting(`open ${printable(path)}`, () => open(path, access === 'read' ? 'r' : 'r+'))
  try {
    const users = (await usersOf(await realpath(path))).filter(({ writes }) => writes || access === 'write')
    if (users.length > 0) throw new ImageInUseError(path, users)
    return await use()
  } finally {
    await file.close()
  }
}

/** Returns other processes that have the file open. @param proc directory of the kernel's process data. */
export async function usersOf(path: string, proc = '/proc'): Promise<readonly FileUser[]> {
  const pids = (await readdir(proc)).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
  const users = await Promise.all(pids.map((pid) => userOf(proc, pid, path)))
  return users.filter((user) => user !== undefined)
}

async function userOf(proc: string, pid: string, path: string): Promise<FileUser | undefined> {
  try {
    const folder = `${proc}/${pid}`
    const flags: number[] = []
    for (const fd of await readdir(`${folder}/fd`)) {
      if ((await readlink(`${folder}/fd/${fd}`)) !== path) continue
      const [, octal = '0'] = /^flags:\s*([0-7]+)$/m.exec(await readFile(`${folder}/fdinfo/${fd}`, 'utf8')) ?? []
      flags.push(Number.parseInt(octal, 8))
    }
    if (flags.length === 0) return undefined
    const name = (await readFile(`${folder}/comm`, 'utf8')).trim()
    // O_ACCMODE is 3, and O_RDONLY is 0.
    return { pid: Number(pid), name, writes: flags.some((each) => (each & 3) !== 0) }
  } catch (error) {
    // It has ended, or belongs to another user.
    if (isSystemError(error)) return undefined
    throw error
  }
}

/** Error of an image file that another process has open. Nothing was changed. */
export class ImageInUseError extends ToolsError {
  constructor(path: string, users: readonly FileUser[]) {
    super('ERR_GPUNVME_IMAGE_IN_USE', 'privilege', `Cannot serve ${printable(path)}: another process has it open`, {
      facts: users.map(
        ({ pid, name, writes }) => `process ${pid} (${printable(name)}) ${writes ? 'writes to' : 'reads'} it`,
      ),
      next: 'end that process, or use another --image; several may serve one file if all use --read-only',
    })
  }
}
