import { constants, type Dirent } from 'node:fs'
import { open, readdir, readlink, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { unknown, type Unknown } from './known.js'

/** What a file may hold that is read whole. Those of /sys hold a page, a kernel's configuration 300 KiB. */
const USUAL_BYTES = 8 * 1024 * 1024

/** Links that are followed from one to the next, as Linux follows them. */
const MOST_LINKS = 40

/** What was read of a tree, by path: what a copy of it has to have for the same to be read again. */
export type Recorded =
  | { readonly kind: 'file'; readonly bytes: Uint8Array }
  | { readonly kind: 'link'; readonly to: string }
  | { readonly kind: 'folder' }
  | { readonly kind: 'node' }

/**
 * Reads below a folder that stands for '/': that of a live machine, or a copy of one. Links are followed as if nothing
 * were above it, so no copy leads out. Only plain files are read, and no more of them than is asked for: a pipe would
 * never end. Whatever is missing or refused is `undefined`, and `why` says which.
 */
export class Root {
  readonly path: string
  private readonly known = new Map<string, Promise<string | undefined>>()
  private readonly refusals = new Map<string, string>()
  private readonly recorded: Map<string, Recorded> | undefined

  /** @param recorded where to keep what is read. */
  constructor(path: string, recorded?: Map<string, Recorded>) {
    this.path = path
    this.recorded = recorded
  }

  /** A file's text without white space at its ends. */
  async text(path: string, atMostBytes = USUAL_BYTES): Promise<string | undefined> {
    const bytes = await this.bytes(path, atMostBytes)
    return bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8').trim()
  }

  /** A file's number, decimal or with 0x. */
  async number(path: string): Promise<number | undefined> {
    const text = await this.text(path)
    return text === undefined || !/^(-?\d+|0x[0-9a-f]+)$/i.test(text) ? undefined : Number(text)
  }

  /** A file's bytes; not those of one that holds more than `atMostBytes`. */
  async bytes(path: string, atMostBytes = USUAL_BYTES): Promise<Uint8Array | undefined> {
    const place = await this.resolve(path)
    const bytes = await this.look(path, () => readPlainFile(join(this.path, place), atMostBytes))
    if (bytes !== undefined) this.recorded?.set(place, { kind: 'file', bytes })
    return bytes
  }

  /** Names in a folder, in order. */
  async list(path: string): Promise<string[]> {
    const place = await this.resolve(path)
    const entries = await this.look(path, () => readdir(join(this.path, place), { withFileTypes: true }))
    if (entries !== undefined) await this.recordNames(place, entries)
    return entries?.map(({ name }) => name).sort() ?? []
  }

  /** What a link says, not followed. */
  async link(path: string): Promise<string | undefined> {
    const above = await this.resolve(dirOf(path))
    return this.linkAt(joined(above, nameOf(path)))
  }

  /** The links in a folder. They are not recorded: of a process's open files only some are anybody's business. */
  async links(path: string): Promise<{ readonly name: string; readonly to: string }[]> {
    const place = join(this.path, await this.resolve(path))
    const names = await this.look(path, () => readdir(place))
    const found = await Promise.all(
      (names ?? []).map(async (name) => ({ name, to: await readlink(join(place, name)).catch(() => undefined) })),
    )
    return found.flatMap(({ name, to }) => (to === undefined ? [] : [{ name, to }]))
  }

  /** The last name that a link leads to: the driver of sys/bus/pci/devices/BDF/driver. */
  async linkName(path: string): Promise<string | undefined> {
    const to = await this.link(path)
    return to === undefined ? undefined : nameOf(to)
  }

  async exists(path: string): Promise<boolean> {
    return (await this.size(path)) !== undefined
  }

  /** Bytes of a file, or 0 of what is none. */
  async size(path: string): Promise<number | undefined> {
    const place = await this.resolve(path)
    const found = await this.look(path, () => stat(join(this.path, place)))
    if (found === undefined) return undefined
    this.recordUnless(place, { kind: found.isDirectory() ? 'folder' : 'node' })
    return found.isFile() ? found.size : 0
  }

  /** The path that is meant, every link followed: sys/bus/pci/devices/BDF is sys/devices/pci0000:00/... */
  async resolve(path: string): Promise<string> {
    let left = partsOf(path)
    let at = ''
    for (let hops = 0; left.length > 0;) {
      const [part = '', ...rest] = left
      left = rest
      if (part === '..') {
        at = dirOf(at)
        continue
      }
      const next = joined(at, part)
      const to = hops < MOST_LINKS ? await this.linkAt(next) : undefined
      if (to === undefined) {
        at = next
        continue
      }
      hops++
      left = [...partsOf(to), ...rest]
      if (to.startsWith('/')) at = ''
    }
    return at
  }

  /** Why `path` could not be read, for whoever may mend it. */
  why(path: string): Unknown {
    const code = this.refusals.get(path) ?? 'ENOENT'
    if (code === 'EACCES' || code === 'EPERM') return unknown(`needs root: /${path} may not be read`)
    if (code === 'ENOENT' || code === 'ENOTDIR') return unknown(`there is no /${path}`)
    return unknown(`/${path} cannot be read: ${code}`)
  }

  /** Names that stand for something by being there. Those of plain files do not, nor those of processes. */
  private async recordNames(place: string, entries: readonly Dirent[]): Promise<void> {
    if (this.recorded === undefined) return
    this.recordUnless(place, { kind: 'folder' })
    if (place === 'proc') return
    for (const entry of entries) {
      const at = joined(place, entry.name)
      if (entry.isSymbolicLink()) await this.linkAt(at)
      else if (!entry.isFile()) this.recordUnless(at, { kind: entry.isDirectory() ? 'folder' : 'node' })
    }
  }

  private recordUnless(place: string, found: Recorded): void {
    if (!this.recorded?.has(place)) this.recorded?.set(place, found)
  }

  private async linkAt(place: string): Promise<string | undefined> {
    const known = this.known.get(place)
    if (known !== undefined) return known
    const asked = readlink(join(this.path, place)).catch(() => undefined)
    this.known.set(place, asked)
    const to = await asked
    if (to !== undefined) this.recorded?.set(place, { kind: 'link', to })
    return to
  }

  private async look<T>(path: string, how: () => Promise<T>): Promise<T | undefined> {
    try {
      return await how()
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      this.refusals.set(path, code ?? message)
      return undefined
    }
  }
}

async function readPlainFile(path: string, atMostBytes: number): Promise<Uint8Array> {
  // A pipe that nobody writes to would never open without.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    if (!(await file.stat()).isFile()) throw new Error('it is no plain file')
    const pieces: Uint8Array[] = []
    let lengthBytes = 0
    // Files of /sys and /proc do not know their size.
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(64 * 1024), 0, 64 * 1024, null)
      if (bytesRead === 0) return Buffer.concat(pieces)
      lengthBytes += bytesRead
      if (lengthBytes > atMostBytes) throw new Error(`it holds more than ${atMostBytes} bytes`)
      pieces.push(buffer.subarray(0, bytesRead))
    }
  } finally {
    await file.close()
  }
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.')
}

function joined(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}

function dirOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
