import { closeSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sockets } from './native.js'

/** A folder for sockets, whose paths must be short. */
export function socketFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'gpunvme-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) }
}

/** Two ends of one connection in this process. */
export interface SocketPair extends Disposable {
  readonly client: number
  readonly server: number
  /** Closes one end, once. */
  close(end: 'client' | 'server'): void
}

export function socketPair(): SocketPair {
  using folder = socketFolder()
  const path = join(folder.path, 's')
  const listener = sockets.listen(path)
  const client = sockets.connect(path)
  const server = sockets.accept(listener)!
  closeSync(listener)
  const open = new Set([client, server])
  const close = (fd: number) => {
    if (open.delete(fd)) closeSync(fd)
  }
  return {
    ...{ client, server },
    close: (end) => close(end === 'client' ? client : server),
    [Symbol.dispose]() {
      close(client)
      close(server)
    },
  }
}

/** How many descriptors this process has open. */
export const openDescriptors = (): number => readdirSync('/proc/self/fd').length
