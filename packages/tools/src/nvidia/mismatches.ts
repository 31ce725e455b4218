import { isKnown, valueOf } from '../machine/known.js'
import type { DiskModule, Mismatch, NvidiaDriver } from './driver-state.js'
import { lastOf } from './options.js'

type Kind = Mismatch['kind']

/** Returns contradictions between parts whose versions are known. */
export function mismatchesOf(driver: Omit<NvidiaDriver, 'mismatches'>): Mismatch[] {
  const found: Mismatch[] = []
  const add = (kind: Kind, text: string) => found.push({ kind, text })
  const kernel = valueOf(driver.kernel)
  const here = (valueOf(driver.onDisk) ?? []).filter((each) => each.kernel === kernel)
  const running = valueOf(driver.running)
  const loaded = running === undefined ? undefined : valueOf(running.version)
  const loadedFlavour = running === undefined ? undefined : valueOf(running.flavour)
  const disk = contentsOf(here[0])
  const image = driver.initramfs.find((each) => each.kernel === kernel)
  const packed = image === undefined ? undefined : valueOf(image.module)

  if (differ(loaded, disk?.version))
    add('running-and-disk', `${loaded} is running, ${disk?.version} is on disk and loaded after a restart`)
  if (differ(loadedFlavour, disk && valueOf(disk.flavour)))
    add('flavours', `the ${loadedFlavour} flavour is running, the ${valueOf(disk!.flavour)} one is on disk`)
  if (differ(loaded, packed?.version))
    add('running-and-initramfs', `${loaded} is running, ${packed?.version} is in ${image?.path}`)
  if (differ(disk?.version, packed?.version))
    add(
      'disk-and-initramfs',
      `${disk?.version} is on disk, ${packed?.version} in ${image?.path}, which is loaded after a restart`,
    )
  else if (differ(disk?.srcversion, packed?.srcversion))
    add('disk-and-initramfs', `${image?.path} has a module of the same version, built from other sources`)
  const library = valueOf(driver.libcuda)
  const libraryVersion = library === undefined ? undefined : valueOf(library.version)
  if (differ(loaded, libraryVersion))
    add('running-and-libcuda', `the module is ${loaded}, libcuda is ${libraryVersion}: CUDA refuses to start`)
  for (const name of ['EnableResizableBar', 'RegistryDwords']) addOption(driver, name, add)
  if (here.length > 1)
    add(
      'several-modules',
      `${here.length} modules for ${kernel}: ${here.map(({ path }) => path).join(', ')}; the first one is loaded`,
    )
  const versions = new Set(driver.dkms.map(({ name, version }) => `${name}/${version}`))
  if (versions.size > 1) add('several-trees', `DKMS has ${versions.size} trees: ${[...versions].join(', ')}`)
  const changed = driver.trees.filter(({ applied }) => applied.some((mark) => mark.startsWith('pfn-')))
  if (changed.length > 0 && disk !== undefined && disk.mark === undefined)
    add('mark-lost', `${changed[0]!.path} is changed, but the module on disk was not rebuilt`)
  return found
}

function addOption(
  driver: Omit<NvidiaDriver, 'mismatches'>,
  name: string,
  add: (kind: Kind, text: string) => void,
): void {
  const now = valueOf(driver.options.running)?.[name]
  const configured = lastOf(driver.options.configured, `NVreg_${name}`)
  if (now === undefined || configured === undefined || now === configured.value) return
  add(
    'running-and-configured',
    `${name} is '${now}' in the running module, '${configured.value}' in ${configured.file}: the initramfs has an older file, or the module was not reloaded`,
  )
}

function contentsOf(module: DiskModule | undefined) {
  return module !== undefined && isKnown(module.contents) ? module.contents : undefined
}

function differ(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && b !== undefined && a !== b
}
