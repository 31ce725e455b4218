import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** Writes files below a folder that stands for '/'. */
export class TreeWriter {
  readonly root: string
  private readonly folders = new Set<string>()

  constructor(root: string) {
    this.root = root
  }

  /** Writes text with a final newline, as in sysfs. */
  file(path: string, contents: string | number | Uint8Array): void {
    this.folder(dirname(path))
    const data = contents instanceof Uint8Array ? contents : `${contents}\n`
    writeFileSync(join(this.root, path), data)
  }

  folder(path: string): void {
    if (this.folders.has(path)) return
    mkdirSync(join(this.root, path), { recursive: true })
    this.folders.add(path)
  }

  /** Writes a relative link to a path of the tree, as the kernel does. */
  link(path: string, to: string): void {
    this.rawLink(path, relative(dirname(path), to))
  }

  /** Writes a link to an absolute path, or to text such as 'mnt:[4026531840]'. */
  rawLink(path: string, to: string): void {
    this.folder(dirname(path))
    symlinkSync(to, join(this.root, path))
  }
}
