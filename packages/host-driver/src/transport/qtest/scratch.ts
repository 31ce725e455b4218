import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { closeSync, ftruncateSync, mkdirSync, openSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DriverError } from '../../error.js'

const SHARED_MEMORY = '/dev/shm'

/**
 * Directories of a machine: one for its memory, on a file system in memory if that has room, and one for everything
 * else. Their names are fixed at construction; `make` creates them.
 */
export class Scratch {
  readonly folders: readonly string[]

  constructor(memoryBytes: number) {
    const places = [tmpdir(), ...(hasRoom(memoryBytes) ? [SHARED_MEMORY] : [])]
    this.folders = places.map((place) => join(place, `gpunvme-qemu-${randomUUID()}`))
  }

  /** Creates the directories, accessible only to this user. */
  make(): void {
    for (const folder of this.folders) mkdirSync(folder, { mode: 0o700 })
  }

  /** Returns the path of a file. */
  file(name: string): string {
    return join(this.folders[0]!, name)
  }

  /** Returns the path of a memory. */
  memory(name: string): string {
    return join(this.folders.at(-1)!, name)
  }

  /** Creates a sparse file of zeros. */
  image(path: string, lengthBytes: number): void {
    const file = openSync(path, 'wx')
    try {
      ftruncateSync(file, lengthBytes)
    } finally {
      closeSync(file)
    }
  }

  /** Creates two FIFOs with mkfifo, since Node has no function for that. @throws DriverError (QEMU_FIFO) */
  fifos(path: string): void {
    const { error, stderr } = spawnSync('mkfifo', ['-m', '600', `${path}.in`, `${path}.out`], { encoding: 'utf8' })
    if (error || stderr !== '') throw noFifos(path, error ?? stderr.trim())
  }

  remove(): void {
    for (const folder of this.folders) rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * A file that outgrows a file system in memory kills every process that accesses it; containers often have 64 MiB
 * there.
 */
function hasRoom(lengthBytes: number): boolean {
  try {
    const { bavail, bsize } = statfsSync(SHARED_MEMORY)
    return bavail * bsize > lengthBytes
  } catch {
    return false
  }
}

function noFifos(path: string, cause: NodeJS.ErrnoException | string): DriverError {
  const isMissing = typeof cause !== 'string' && cause.code === 'ENOENT'
  const headline = `Cannot start QEMU: mkfifo created no FIFOs at ${path}`
  return new DriverError('ERR_GPUNVME_QEMU_FIFO', 'not-found', headline, {
    facts: [typeof cause === 'string' ? cause : cause.message],
    next: isMissing
      ? 'install mkfifo (Debian: apt-get install coreutils)'
      : 'set TMPDIR to a writable directory that can hold FIFOs',
    cause,
  })
}
