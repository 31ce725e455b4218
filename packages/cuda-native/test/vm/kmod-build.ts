import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { CACHE } from './parts.js'

const KMOD = join(import.meta.dirname, '../../../../kmod')

const built = new Map<string, Buffer | string>()

/**
 * The module gpunvme for a kernel's release, from a copy of its sources as DKMS would have them: nothing is written into
 * kmod/. Text where it cannot be built for want of something: what, with its kind. @throws where it does not compile.
 */
export function gpunvmeModule(release: string): Buffer | string {
  const known = built.get(release)
  if (known !== undefined) return known
  const made = build(release)
  built.set(release, made)
  return made
}

function build(release: string): Buffer | string {
  const headers = `/usr/src/linux-headers-${release}`
  if (!existsSync(join(headers, '.config'))) return `[kbuild] linux-headers-${release} is not installed`
  if (spawnSync('make', ['--version']).error) return '[kbuild] make is not installed'
  mkdirSync(CACHE, { recursive: true })
  const folder = mkdtempSync(join(CACHE, 'new-'))
  const make = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync('make', args, { encoding: 'utf8' })
    if (status !== 0) throw new Error(`gpunvme.ko cannot be built for ${release}: ${stdout}${stderr}`)
  }
  try {
    make('-C', KMOD, 'dkms-tree', `TO=${folder}`)
    make('-C', folder, `KDIR=${headers}`, 'GPUNVME_WERROR=y')
    return readFileSync(join(folder, 'gpunvme.ko'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
