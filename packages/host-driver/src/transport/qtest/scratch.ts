import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { closeSync, ftruncateSync, mkdirSync, openSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GpuNvmeError } from '@gpunvme/nvme-spec'

const SHARED_MEMORY = '/dev/shm'

/**
 * Folders that go with the machine: one for its memory, in memory where there is room for it, and one for the rest.
 * They have their names from the start, and are there after `make`.
 */
export class Scratch {
  readonly folders: readonly string[]

  constructor(memoryBytes: number) {
    const places = [tmpdir(), ...(hasRoom(memoryBytes) ? [SHARED_MEMORY] : [])]
    this.folders = places.map((place) => join(place, `gpunvme-qemu-${randomUUID()}`))
  }

  /** Makes the folders, for nobody else to look into. */
  make(): void {
    for (const folder of this.folders) mkdirSync(folder, { mode: 0o700 })
  }

  /** Where a file of that name is to be. */
  file(name: string): string {
    return join(this.folders[0]!, name)
  }

  /** Where memory of that name is to be. */
  memory(name: string): string {
    return join(this.folders.at(-1)!, name)
  }

  /** Makes a file of zeros, sparse. */
  image(path: string, lengthBytes: number): void {
    const file = openSync(path, 'wx')
    try {
      ftruncateSync(file, lengthBytes)
    } finally {
      closeSync(file)
    }
  }

  /** Makes two FIFOs, which Node has no function for. @throws FifoError */
  fifos(path: string): void {
    const { error, stderr } = spawnSync('mkfifo', ['-m', '600', `${path}.in`, `${path}.out`], { encoding: 'utf8' })
    if (error || stderr !== '') throw new FifoError(path, error ?? stderr.trim())
  }

  remove(): void {
    for (const folder of this.folders) rmSync(folder, { recursive: true, force: true })
  }
}

/** A file in memory that outgrows its file system kills whoever touches it; containers often have 64 MiB there. */
function hasRoom(lengthBytes: number): boolean {
  try {
    const { bavail, bsize } = statfsSync(SHARED_MEMORY)
    return bavail * bsize > lengthBytes
  } catch {
    return false
  }
}

/** The pipes that QEMU is spoken to by cannot be made. */
export class FifoError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_QEMU_FIFO'
  readonly category = 'not-found'
  constructor(path: string, cause: NodeJS.ErrnoException | string) {
    const isMissing = typeof cause !== 'string' && cause.code === 'ENOENT'
    super(`QEMU cannot be started: mkfifo made no pipes at ${path}`, {
      facts: [typeof cause === 'string' ? cause : cause.message],
      next: isMissing
        ? 'have mkfifo on PATH (Debian: apt-get install coreutils)'
        : 'have a folder for temporary files (TMPDIR) that is writable and can hold FIFOs',
      cause,
    })
  }
}
