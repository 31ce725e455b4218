import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const root = join(import.meta.dirname, '../..')

/** A copy of the sources of the addons, removed after the tests of the file. */
export interface PackageCopy {
  /** The repository's root, which has no workspace file. */
  readonly repository: string
  readonly folder: string
  readonly script: string
  readonly build: (flags: readonly string[], env: Record<string, string>, node?: string) => BuildEnd
}

/** Exit status and output of build-native.mjs. */
export interface BuildEnd {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

export function packageCopy(): PackageCopy {
  const repository = mkdtempSync(join(tmpdir(), 'gpunvme-build-'))
  afterAll(() => rmSync(repository, { recursive: true }))
  const folder = join(repository, 'packages/cuda-native')
  mkdirSync(folder, { recursive: true })
  const build = join(root, 'native/build')
  for (const part of ['native', 'cuda', 'scripts'])
    cpSync(join(root, part), join(folder, part), { recursive: true, filter: (path) => path !== build })
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const script = join(folder, 'scripts/build-native.mjs')
  return {
    ...{ repository, folder, script },
    build(flags, env, node = process.execPath) {
      const { status, stdout, stderr } = spawnSync(node, [script, ...flags], { encoding: 'utf8', env })
      return { status, stdout, stderr }
    },
  }
}
