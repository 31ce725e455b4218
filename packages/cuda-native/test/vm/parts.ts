import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { unpackKernel } from './kernel-image.js'

/** What a guest is made of. */
export interface GuestParts {
  /** The kernel's release, as uname -r gives it. */
  readonly release: string
  readonly kernel: string
  readonly modules: string
  readonly busybox: string
}

/** Git ignores it; what it holds is enough to work without a network. */
export const CACHE = join(import.meta.dirname, '../../../../node_modules/.cache/gpunvme-vm')

/**
 * Debian's kernel and busybox, downloaded by apt, unpacked and never installed: no root is needed, and the kernel is the
 * one that this machine's packages are of. Text where they cannot be had: why.
 */
export function guestParts(): GuestParts | string {
  mkdirSync(CACHE, { recursive: true })
  const offered = offeredImages()
  for (const image of offered) {
    if (!existsSync(join(CACHE, image))) download(image)
    if (existsSync(join(CACHE, image))) return partsIn(join(CACHE, image))
  }
  const cached = readdirSync(CACHE).filter((name) => name.startsWith('linux-image-'))
  const image = cached.sort().at(-1)
  if (image !== undefined) return partsIn(join(CACHE, image))
  return offered.length === 0
    ? 'apt offers no linux-image-amd64, and none was downloaded before'
    : `${offered.join(' or ')} and busybox-static cannot be downloaded with apt-get, and were not before`
}

/**
 * The packages of kernels, best first: the one that linux-image-amd64 stands for today, unless headers of another one
 * are installed here, which modules can then be built for.
 */
function offeredImages(): string[] {
  const ask = (...args: string[]) => spawnSync('apt-cache', args, { encoding: 'utf8' })
  const { stdout, error } = ask('depends', 'linux-image-amd64')
  const today = error ? undefined : /Depends: (linux-image-[\w.+-]+)/.exec(stdout)?.[1]
  if (today === undefined) return []
  const headers = existsSync('/usr/src') ? readdirSync('/usr/src') : []
  const built = headers.flatMap((name) => /^linux-headers-(.*-amd64)$/.exec(name)?.[1] ?? [])
  const images = built.map((release) => `linux-image-${release}`).filter((name) => ask('show', name).status === 0)
  return images.includes(today) ? [today] : [...images, today]
}

/** Fills the folder beside its place first, so that one that is there is whole. */
function download(image: string): void {
  const folder = mkdtempSync(join(CACHE, 'new-'))
  try {
    // Downloads of root are handed to the user _apt, who may not enter the cache.
    const asUser = process.getuid?.() === 0 ? ['-o', 'APT::Sandbox::User=root'] : []
    const got = spawnSync('apt-get', [...asUser, '-qq', 'download', image, 'busybox-static'], { cwd: folder })
    const packages = readdirSync(folder).filter((name) => name.endsWith('.deb'))
    if (got.status !== 0 || packages.length !== 2) return
    for (const name of packages) {
      if (spawnSync('dpkg-deb', ['-x', name, '.'], { cwd: folder }).status !== 0) return
      rmSync(join(folder, name))
    }
    const { kernel } = partsIn(folder)
    const unpacked = unpackKernel(readFileSync(kernel))
    if (unpacked !== undefined) writeFileSync(join(folder, 'vmlinux'), unpacked)
    renameSync(folder, join(CACHE, image))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function partsIn(folder: string): GuestParts {
  const find = (parent: string, prefix: string) => {
    const name = readdirSync(join(folder, parent)).find((entry) => entry.startsWith(prefix))
    if (name === undefined) throw new Error(`the package has no ${parent}/${prefix}…`)
    return name
  }
  const release = find('boot', 'vmlinuz-').slice('vmlinuz-'.length)
  // Debian 13 has moved /lib to /usr/lib, and /bin to /usr/bin.
  const place = (path: string) => [join(folder, path), join(folder, 'usr', path)].find(existsSync) ?? join(folder, path)
  const vmlinux = join(folder, 'vmlinux')
  return {
    release,
    kernel: existsSync(vmlinux) ? vmlinux : join(folder, `boot/vmlinuz-${release}`),
    modules: place(`lib/modules/${release}`),
    busybox: place('bin/busybox'),
  }
}
