import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '..')

export interface Package {
  readonly name: string
  readonly folder: string
  readonly manifest: {
    readonly name: string
    readonly version: string
    readonly scripts?: Record<string, string>
    readonly dependencies?: Record<string, string>
    readonly peerDependencies?: Record<string, string>
    readonly peerDependenciesMeta?: Record<string, { readonly optional?: boolean }>
    readonly devDependencies?: Record<string, string>
  }
}

/** All packages of the workspace; `name` is without the scope. */
export const packages: readonly Package[] = readdirSync(join(root, 'packages')).map((name) => {
  const folder = join(root, 'packages', name)
  return {
    name,
    folder,
    manifest: JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Package['manifest'],
  }
})

/** Returns the files below a folder with one of these endings, without built and installed files. */
export function filesBelow(folder: string, endings: readonly string[]): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (['node_modules', 'dist', '.turbo', '.reports'].includes(entry.name)) return []
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return filesBelow(path, endings)
    return endings.some((ending) => entry.name.endsWith(ending)) ? [path] : []
  })
}
