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

/** Files of a guest. */
export interface GuestParts {
  /** Kernel release, as `uname -r` prints it. */
  readonly release: string
  readonly kernel: string
  readonly modules: string
  readonly busybox: string
}

/** Cache folder, ignored by git. Once it is filled, guests need no network. */
export const CACHE = join(import.meta.dirname, '../../../../node_modules/.cache/gpunvme-vm')

/**
 * Returns Debian's kernel and busybox, which apt downloads and which are unpacked but not installed. This needs no
 * root, and the kernel is that of this machine's Debian release. A string states why they are unavailable.
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
 * Returns kernel packages by preference: those whose headers are installed, since modules can be built for them, then
 * the current dependency of linux-image-amd64. If that has installed headers, it is the only one.
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

/** Downloads and unpacks packages into a temporary folder, and renames it when it is complete. */
function download(image: string): void {
  const folder = mkdtempSync(join(CACHE, 'new-'))
  try {
    // As root, apt-get would download as the user _apt, which cannot access the cache.
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
  // Since Debian 13, packages install to /usr/lib and /usr/bin instead of /lib and /bin.
  const place = (path: string) => [join(folder, path), join(folder, 'usr', path)].find(existsSync) ?? join(folder, path)
  const vmlinux = join(folder, 'vmlinux')
  return {
    release,
    kernel: existsSync(vmlinux) ? vmlinux : join(folder, `boot/vmlinuz-${release}`),
    modules: place(`lib/modules/${release}`),
    busybox: place('bin/busybox'),
  }
}
