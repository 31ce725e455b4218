import { GpuNvmeError } from '@gpunvme/nvme-spec'
import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** How often a lock that is taken is asked for again, while there is time. */
const RETRY_MS = 100

/**
 * Lends one drive to one process at a time, while it changes its driver. The lock is the name of a socket that is in no
 * file system (unix(7), abstract): the kernel gives it to one process, and takes it back however that ends.
 * @param waitMs how long to wait for another process to be done.
 * @throws DriverChangingError
 */
export async function withLock<T>(root: string, bdf: string, waitMs: number, use: () => Promise<T>): Promise<T> {
  const identity = createHash('sha256')
    .update(`${realpathSync(root)}\n${bdf}`)
    .digest('hex')
  const server = await take(`\0gpunvme-binding-${identity}`, bdf, waitMs)
  try {
    return await use()
  } finally {
    await new Promise((resolve) => server.close(resolve))
  }
}

async function take(name: string, bdf: string, waitMs: number): Promise<Server> {
  const until = performance.now() + waitMs
  for (;;) {
    const server = await listen(name)
    if (server !== undefined) return server
    if (performance.now() >= until) throw new DriverChangingError(bdf)
    await sleep(RETRY_MS)
  }
}

function listen(name: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined)
      else reject(error)
    })
    server.listen({ path: name }, () => resolve(server))
  })
}

/** Another gpunvme is in the middle of it. Nothing was touched. */
export class DriverChangingError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_DRIVER_CHANGING'
  readonly category = 'privilege'
  constructor(bdf: string) {
    super(`Another gpunvme is changing the driver of ${bdf}`, {
      next: 'again in a moment; ss -xlp names the process that listens at @gpunvme-binding-…',
    })
  }
}
