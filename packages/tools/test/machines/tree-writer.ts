import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** Writes files below a folder that stands for '/'. */
export class TreeWriter {
  readonly root: string
  private readonly folders = new Set<string>()

  constructor(root: string) {
    this.root = root
  }

  /** Text gets the newline that files of sysfs end with. */
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

  /** A link to a path of the tree, relative as the kernel's are. */
  link(path: string, to: string): void {
    this.rawLink(path, relative(dirname(path), to))
  }

  /** A link to what is no path: 'mnt:[4026531840]', or an absolute one. */
  rawLink(path: string, to: string): void {
    this.folder(dirname(path))
    symlinkSync(to, join(this.root, path))
  }
}
