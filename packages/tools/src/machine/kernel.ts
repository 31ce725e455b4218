import { gunzipSync } from 'node:zlib'
import { isKnown, unknown, type Known } from './known.js'
import type { Kernel, KernelConfig, LoadedModule, Modules } from './machine.js'
import type { Root } from './root.js'

/** Build options that matter for gpunvme. */
export const KERNEL_OPTIONS = [
  'VFIO',
  'VFIO_PCI',
  'VFIO_NOIOMMU',
  'VFIO_IOMMU_TYPE1',
  'IOMMU_DEFAULT_PASSTHROUGH',
  'AMD_IOMMU',
  'INTEL_IOMMU',
  'INTEL_IOMMU_DEFAULT_ON',
  'STRICT_DEVMEM',
  'IO_STRICT_DEVMEM',
  'PCI_P2PDMA',
  'PCIEASPM',
  'BLK_DEV_NVME',
  'HUGETLBFS',
  'MODULES',
  'MODULE_SIG',
  'MODULE_SIG_FORCE',
  'MODVERSIONS',
  'TRIM_UNUSED_KSYMS',
  'SECURITY_LOCKDOWN_LSM',
  'DMA_SHARED_BUFFER',
  'UDMABUF',
  'VMD',
] as const

/** Modules that matter for gpunvme, with underscores as in the kernel's list. */
export const MODULES = [
  'amdgpu',
  'gpunvme',
  'nouveau',
  'nova_core',
  'nvidia',
  'nvidia_drm',
  'nvidia_fs',
  'nvidia_modeset',
  'nvidia_uvm',
  'nvme',
  'uio_pci_generic',
  'vfio',
  'vfio_iommu_type1',
  'vfio_pci',
  'vmd',
  'xe',
] as const

const MAX_CONFIG_BYTES = 2 * 1024 * 1024

export async function readKernel(root: Root): Promise<Kernel> {
  const release = (await root.text('proc/sys/kernel/osrelease')) ?? root.why('proc/sys/kernel/osrelease')
  return {
    release,
    config: isKnown(release) ? await readConfig(root, release) : unknown('the release of the kernel is unknown'),
    commandLine: (await root.text('proc/cmdline')) ?? root.why('proc/cmdline'),
    lockdown: await readLockdown(root),
    aspmPolicy: selected(await root.text('sys/module/pcie_aspm/parameters/policy')),
  }
}

/**
 * Returns a parameter of a kernel command line: the value of the last 'name=value', '' for the word alone, undefined if
 * absent.
 */
export function parameter(commandLine: string, name: string): string | undefined {
  const words = commandLine.match(/(?:[^\s"]|"[^"]*")+/g) ?? []
  const last = words.findLast((word) => word === name || word.startsWith(`${name}=`))
  return last?.slice(name.length + 1).replaceAll('"', '')
}

async function readConfig(root: Root, release: string): Promise<Known<KernelConfig>> {
  const packed = await root.bytes('proc/config.gz')
  const text = packed === undefined ? undefined : unpacked(packed)
  if (text !== undefined) return configOf('/proc/config.gz', text)
  const places = [`boot/config-${release}`, `lib/modules/${release}/config`, `lib/modules/${release}/build/.config`]
  for (const place of places) {
    const found = await root.text(place)
    if (found !== undefined) return configOf(`/${place}`, found)
  }
  return unknown(`none of /proc/config.gz, ${places.map((place) => `/${place}`).join(', ')} is readable`)
}

function unpacked(bytes: Uint8Array): string | undefined {
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_CONFIG_BYTES }).toString('utf8')
  } catch {
    return undefined // not gzip, or a decompression bomb: tries the next file
  }
}

function configOf(source: string, text: string): KernelConfig {
  const set = new Map(Array.from(text.matchAll(/^CONFIG_(\w+)=(.*)$/gm), ([, name = '', value = '']) => [name, value]))
  return { source, options: Object.fromEntries(KERNEL_OPTIONS.map((name) => [name, set.get(name) ?? 'n'])) }
}

async function readLockdown(root: Root): Promise<Kernel['lockdown']> {
  const path = 'sys/kernel/security/lockdown'
  const mode = selected(await root.text(path))
  return mode === 'none' || mode === 'integrity' || mode === 'confidentiality' ? mode : root.why(path)
}

/** Returns the bracketed word of '[none] integrity confidentiality'. */
function selected(text: string | undefined): string | undefined {
  return /\[(\w+)\]/.exec(text ?? '')?.[1]
}

export async function readModules(root: Root, release: Known<string>): Promise<Modules> {
  const listed = await root.text('proc/modules')
  const folder = isKnown(release) ? `lib/modules/${release}` : undefined
  const names = async (file: string): Promise<Known<readonly string[]>> => {
    if (folder === undefined) return unknown('the release of the kernel is unknown')
    const text = await root.text(`${folder}/${file}`)
    return text === undefined ? root.why(`${folder}/${file}`) : namesIn(text)
  }
  return {
    loaded: listed === undefined ? root.why('proc/modules') : listed.split('\n').flatMap(loadedModule),
    onDisk: await names('modules.dep'),
    builtIn: await names('modules.builtin'),
  }
}

/**
 * 'vfio_pci 16384 0 - Live 0x0000000000000000 (OE)': name, size, references, users with commas, state, address, taints.
 */
function loadedModule(line: string): LoadedModule[] {
  const [name, , references, users = '-', , , taints = ''] = line.split(' ')
  if (!name || !/^\d+$/.test(references ?? '')) return []
  const usedBy = users.split(',').filter((user) => user !== '' && user !== '-')
  return [{ name, references: Number(references), usedBy, taints: taints.replace(/[()]/g, '') }]
}

/** Names in modules.dep and modules.builtin, whose lines begin with 'kernel/drivers/vfio/pci/vfio-pci.ko.zst'. */
function namesIn(text: string): string[] {
  const found = new Set(
    Array.from(text.matchAll(/^(?:[^\s:]*\/)?([^\s:/]+)\.ko(?:\.\w+)?(?=:|\s|$)/gm), ([, name = '']) =>
      name.replaceAll('-', '_'),
    ),
  )
  return MODULES.filter((name) => found.has(name))
}
