import { closeSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sockets } from './native.js'

/** Creates a temporary folder for sockets, with a short path. */
export function socketFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'gpunvme-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) }
}

/** Both ends of a connection, in this process. */
export interface SocketPair extends Disposable {
  readonly client: number
  readonly server: number
  /** Closes one end, unless it is closed already. */
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

/** Returns the number of open descriptors of this process. */
export const openDescriptors = (): number => readdirSync('/proc/self/fd').length
