import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A kernel module, ready to be inserted. */
export interface Module {
  readonly name: string
  readonly content: Buffer
  /** As insmod takes them; none where it is left out. */
  readonly parameters?: string
}

/** The kernel modules below a folder. No depmod has run there: what needs what is read from the modules themselves. */
export class ModuleFolder {
  private readonly paths = new Map<string, string>()
  private readonly replaced = new Map<string, Buffer>()

  constructor(folder: string) {
    for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const name = /([^/]+)\.ko(\.xz|\.zst)?$/.exec(path)?.[1]
      if (name !== undefined) this.paths.set(canonical(name), join(folder, path))
    }
  }

  /** Takes `content` for the module `name` from now on. */
  replace(name: string, content: Buffer): void {
    this.replaced.set(canonical(name), content)
  }

  /** The modules `names` and all that they need, each after what it needs. A module that is built in is left out. */
  inOrder(names: readonly string[]): Module[] {
    const ordered = new Map<string, Module>()
    const visit = (name: string) => {
      const content = this.read(name)
      if (content === undefined || ordered.has(name)) return
      dependencies(content).map(canonical).forEach(visit)
      ordered.set(name, { name, content })
    }
    names.map(canonical).forEach(visit)
    return [...ordered.values()]
  }

  private read(name: string): Buffer | undefined {
    const path = this.paths.get(name)
    return this.replaced.get(name) ?? (path === undefined ? undefined : unpacked(path))
  }
}

/** Files are named with dashes or underscores; the kernel takes both for the same. */
function canonical(name: string): string {
  return name.replaceAll('-', '_')
}

/** What modinfo -F depends prints: `depends=a,b` in the section .modinfo, whose strings end in NUL. */
function dependencies(content: Buffer): string[] {
  const key = '\0depends='
  const start = content.indexOf(key, 0, 'latin1') + key.length
  const list = content.toString('latin1', start, content.indexOf(0, start))
  return list.split(',').filter((name) => name !== '')
}

function unpacked(path: string): Buffer {
  const content = readFileSync(path)
  const program = path.endsWith('.xz') ? 'xz' : path.endsWith('.zst') ? 'zstd' : undefined
  if (program === undefined) return content
  const { status, stdout } = spawnSync(program, ['-dc'], { input: content, maxBuffer: 2 ** 30 })
  if (status !== 0) throw new Error(`${program} cannot unpack ${path}`)
  return stdout
}
