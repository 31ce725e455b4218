import { folderOf, linkAt, MachineFileError, readRegularFile, resolveInRoot } from '@gpunvme/host-driver/machine-files'
import { readdirSync, statSync, type Dirent } from 'node:fs'
import { join } from 'node:path'
import { unknown, type Unknown } from './known.js'

/** What a file may hold that is read whole. Those of /sys hold a page, a kernel's configuration 300 KiB. */
const USUAL_BYTES = 8 * 1024 * 1024

/** What was read of a tree, by path: what a copy of it has to have for the same to be read again. */
export type Recorded =
  | { readonly kind: 'file'; readonly bytes: Uint8Array }
  | { readonly kind: 'link'; readonly to: string }
  | { readonly kind: 'folder' }
  | { readonly kind: 'node' }

/**
 * Reads a machine's files below a root folder through `MachineFiles`, and records the files that were read. A file that is
 * missing, inaccessible or not regular reads as `undefined`; `why` returns the reason.
 */
export class Root {
  readonly path: string
  private readonly known = new Map<string, string | undefined>()
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
    const found = await this.look(path, async (place) => ({
      place,
      bytes: await readRegularFile(join(this.path, place), atMostBytes),
    }))
    if (found !== undefined) this.recorded?.set(found.place, { kind: 'file', bytes: found.bytes })
    return found?.bytes
  }

  /** Lines of a file that match. Only these are recorded: the others of such a file may name what is on a drive. */
  async lines(path: string, pattern: RegExp): Promise<string[] | undefined> {
    const found = await this.look(path, async (place) => {
      const text = Buffer.from(await readRegularFile(join(this.path, place), USUAL_BYTES)).toString('utf8')
      return { place, lines: text.split('\n').filter((line) => pattern.test(line)) }
    })
    if (found !== undefined)
      this.recorded?.set(found.place, {
        kind: 'file',
        bytes: Buffer.from(found.lines.map((line) => `${line}\n`).join('')),
      })
    return found?.lines
  }

  /** Names in a folder, in order. */
  async list(path: string): Promise<string[]> {
    const entries = await this.look(path, (place) => {
      const found = readdirSync(join(this.path, place), { withFileTypes: true })
      this.recordNames(place, found)
      return found
    })
    return entries?.map(({ name }) => name).sort() ?? []
  }

  /** What a link says, not followed. */
  async link(path: string): Promise<string | undefined> {
    const found = await this.look(folderOf(path), (above) => ({ to: this.linkAt(joined(above, nameOf(path))) }))
    return found?.to
  }

  /** The links in a folder. They are not recorded: of a process's open files only some are anybody's business. */
  async links(path: string): Promise<{ readonly name: string; readonly to: string }[]> {
    const found = await this.look(path, (place) => {
      const folder = join(this.path, place)
      return readdirSync(folder).map((name) => ({ name, to: linkAt(join(folder, name)) }))
    })
    return found?.flatMap(({ name, to }) => (to === undefined ? [] : [{ name, to }])) ?? []
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
  size(path: string): Promise<number | undefined> {
    return this.look(path, (place) => {
      const found = statSync(join(this.path, place))
      this.recordUnless(place, { kind: found.isDirectory() ? 'folder' : 'node' })
      return found.isFile() ? found.size : 0
    })
  }

  /**
   * Resolves every link of a path and returns the path relative to the root: for sys/bus/pci/devices/BDF,
   * sys/devices/pci0000:00/... @throws MachineFileError for a cycle of links
   */
  resolve(path: string): string {
    return resolveInRoot(path, (place) => this.linkAt(place))
  }

  /** Returns why `path` could not be read. */
  why(path: string): Unknown {
    const code = this.refusals.get(path) ?? 'ENOENT'
    if (code === 'EACCES' || code === 'EPERM') return unknown(`needs root: /${path} may not be read`)
    if (code === 'ENOENT' || code === 'ENOTDIR') return unknown(`there is no /${path}`)
    return unknown(`/${path} cannot be read: ${code}`)
  }

  /** Names that stand for something by being there. Those of plain files do not, nor those of processes. */
  private recordNames(place: string, entries: readonly Dirent[]): void {
    if (this.recorded === undefined) return
    this.recordUnless(place, { kind: 'folder' })
    if (place === 'proc') return
    for (const entry of entries) {
      const at = joined(place, entry.name)
      if (entry.isSymbolicLink()) this.linkAt(at)
      else if (!entry.isFile()) this.recordUnless(at, { kind: entry.isDirectory() ? 'folder' : 'node' })
    }
  }

  private recordUnless(place: string, found: Recorded): void {
    if (!this.recorded?.has(place)) this.recorded?.set(place, found)
  }

  private linkAt(place: string): string | undefined {
    if (this.known.has(place)) return this.known.get(place)
    const to = linkAt(join(this.path, place))
    this.known.set(place, to)
    if (to !== undefined) this.recorded?.set(place, { kind: 'link', to })
    return to
  }

  /** Calls `read` with the resolved path; records the reason of a failure. */
  private async look<T>(path: string, read: (place: string) => T | Promise<T>): Promise<T | undefined> {
    try {
      return await read(this.resolve(path))
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      this.refusals.set(path, error instanceof MachineFileError ? error.problem : (code ?? message))
      return undefined
    }
  }
}

function joined(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
