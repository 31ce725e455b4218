import { folderOf, linkAt, MachineFileError, readRegularFile, resolveInRoot } from '@gpunvme/host-driver/machine-files'
import { readdirSync, statSync, type Dirent } from 'node:fs'
import { join } from 'node:path'
import { unknown, type Unknown } from './known.js'

/** Maximum length of a file that is read completely. Files in /sys have a page, a kernel configuration 300 KiB. */
const USUAL_BYTES = 8 * 1024 * 1024

/** Files that were read, by path: what a copy must contain for the same result. */
export type Recorded =
  | { readonly kind: 'file'; readonly bytes: Uint8Array }
  | { readonly kind: 'link'; readonly to: string }
  | { readonly kind: 'folder' }
  | { readonly kind: 'node' }

/**
 * Reads a machine's files below a root directory through `MachineFiles`, and records them. A file that is missing,
 * inaccessible or not regular reads as `undefined`; `why` returns the reason.
 */
export class Root {
  readonly path: string
  private readonly known = new Map<string, string | undefined>()
  private readonly refusals = new Map<string, string>()
  private readonly recorded: Map<string, Recorded> | undefined

  /** @param recorded receives what is read. */
  constructor(path: string, recorded?: Map<string, Recorded>) {
    this.path = path
    this.recorded = recorded
  }

  /** Returns a file's text, trimmed. */
  async text(path: string, atMostBytes = USUAL_BYTES): Promise<string | undefined> {
    const bytes = await this.bytes(path, atMostBytes)
    return bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8').trim()
  }

  /** Returns a file's number, decimal or with 0x. */
  async number(path: string): Promise<number | undefined> {
    const text = await this.text(path)
    return text === undefined || !/^(-?\d+|0x[0-9a-f]+)$/i.test(text) ? undefined : Number(text)
  }

  /** Returns a file's bytes; undefined if it exceeds `atMostBytes`. */
  async bytes(path: string, atMostBytes = USUAL_BYTES): Promise<Uint8Array | undefined> {
    const found = await this.look(path, async (place) => ({
      place,
      bytes: await readRegularFile(join(this.path, place), atMostBytes),
    }))
    if (found !== undefined) this.recorded?.set(found.place, { kind: 'file', bytes: found.bytes })
    return found?.bytes
  }

  /** Returns the matching lines of a file. Only these are recorded: other lines may name content of a drive. */
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

  /** Returns the names in a directory, in order. */
  async list(path: string): Promise<string[]> {
    const entries = await this.look(path, (place) => {
      const found = readdirSync(join(this.path, place), { withFileTypes: true })
      this.recordNames(place, found)
      return found
    })
    return entries?.map(({ name }) => name).sort() ?? []
  }

  /** Returns the target of a link, unresolved. */
  async link(path: string): Promise<string | undefined> {
    const found = await this.look(folderOf(path), (above) => ({ to: this.linkAt(joined(above, nameOf(path))) }))
    return found?.to
  }

  /** Returns the links in a directory. They are not recorded: most open files of processes are private. */
  async links(path: string): Promise<{ readonly name: string; readonly to: string }[]> {
    const found = await this.look(path, (place) => {
      const folder = join(this.path, place)
      return readdirSync(folder).map((name) => ({ name, to: linkAt(join(folder, name)) }))
    })
    return found?.flatMap(({ name, to }) => (to === undefined ? [] : [{ name, to }])) ?? []
  }

  /** Returns the last component of a link's target: the driver of sys/bus/pci/devices/BDF/driver. */
  async linkName(path: string): Promise<string | undefined> {
    const to = await this.link(path)
    return to === undefined ? undefined : nameOf(to)
  }

  async exists(path: string): Promise<boolean> {
    return (await this.size(path)) !== undefined
  }

  /** Returns the size of a file; 0 for anything else. */
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
    if (code === 'EACCES' || code === 'EPERM') return unknown(`needs root: /${path} is not readable`)
    if (code === 'ENOENT' || code === 'ENOTDIR') return unknown(`there is no /${path}`)
    return unknown(`/${path} cannot be read: ${code}`)
  }

  /** Records names whose existence is relevant, without plain files and processes. */
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
