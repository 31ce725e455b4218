import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A kernel module to insert. */
export interface Module {
  readonly name: string
  readonly content: Buffer
  /** Module parameters, as for insmod. Default: none. */
  readonly parameters?: string
}

/** Kernel modules below a folder without depmod's index. Dependencies are read from the modules. */
export class ModuleFolder {
  private readonly paths = new Map<string, string>()
  private readonly replaced = new Map<string, Buffer>()

  constructor(folder: string) {
    for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const name = /([^/]+)\.ko(\.xz|\.zst)?$/.exec(path)?.[1]
      if (name !== undefined) this.paths.set(canonical(name), join(folder, path))
    }
  }

  /** Replaces the module `name` by `content`. */
  replace(name: string, content: Buffer): void {
    this.replaced.set(canonical(name), content)
  }

  /** Returns the modules `names` and their dependencies, dependencies first. Omits built-in modules. */
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

/** Returns a module name with underscores, since file names use dashes and underscores interchangeably. */
function canonical(name: string): string {
  return name.replaceAll('-', '_')
}

/** Returns what `modinfo -F depends` prints: `depends=a,b` in the section .modinfo, whose strings end in NUL. */
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
  if (status !== 0) throw new Error(`${program} cannot decompress ${path}`)
  return stdout
}
