import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CACHE } from './parts.js'

/**
 * Returns the vfio module with CONFIG_VFIO_NOIOMMU, which Debian's kernels do not enable, built from Debian's source
 * and headers of that kernel. Nothing else differs. A string states why it cannot be built.
 */
export function noIommuModule(release: string): Buffer | string {
  const built = join(CACHE, `vfio-noiommu-${release}.ko`)
  const headers = `/usr/src/linux-headers-${release}`
  if (!existsSync(built)) {
    if (!existsSync(join(headers, '.config'))) return `[kbuild] linux-headers-${release} is not installed`
    const why = build(release, headers, built)
    if (why !== undefined) return why
  }
  return readFileSync(built)
}

function build(release: string, headers: string, built: string): string | undefined {
  const [series] = /^\d+\.\d+/.exec(release) ?? ['']
  const source = `linux-source-${series}`
  const folder = mkdtempSync(join(CACHE, 'new-'))
  const shell = (script: string) => spawnSync('sh', ['-c', script], { cwd: folder, encoding: 'utf8' })
  try {
    const asUser = process.getuid?.() === 0 ? '-o APT::Sandbox::User=root' : ''
    if (shell(`apt-get ${asUser} -qq download ${source}`).status !== 0)
      return `[vm] ${source} cannot be downloaded with apt-get, and was not before`
    // Extract one folder from the tar file in the package; the whole source is 1.3 GiB.
    const unpack = `dpkg-deb --fsys-tarfile ${source}_*.deb | tar -xO ./usr/src/${source}.tar.xz | tar -xJ ${source}/drivers/vfio`
    const { status, stderr } = shell(unpack)
    if (status !== 0) throw new Error(`${source} cannot be unpacked: ${stderr}`)
    const sources = join(folder, source, 'drivers/vfio')
    const makefile = readFileSync(join(sources, 'Makefile'), 'utf8')
    writeFileSync(join(sources, 'Makefile'), onlyVfio(makefile))
    const made = shell(`make -C ${headers} M=${sources} KCFLAGS=-DCONFIG_VFIO_NOIOMMU=1 modules`)
    if (made.status !== 0) throw new Error(`vfio.ko with CONFIG_VFIO_NOIOMMU cannot be built: ${made.stderr}`)
    renameSync(join(sources, 'vfio.ko'), built)
    return undefined
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Returns the kernel's Makefile reduced to the vfio module. The other modules are Debian's. */
function onlyVfio(makefile: string): string {
  const statements = makefile.replaceAll('\\\n', ' ').split('\n')
  const ours = statements.filter((line) => /^vfio-|^obj-.*[ \t]vfio\.o/.test(line))
  return `${ours.join('\n')}\n`
}
