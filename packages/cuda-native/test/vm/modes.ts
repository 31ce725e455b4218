import { guestParts, type GuestParts } from './parts.js'
import { addonMissing } from './bundle.js'
import { qemuMissing } from './guest.js'
import { ModuleFolder, type Module } from './modules.js'
import { noIommuModule } from './noiommu.js'
import type { Scenario } from './protocol.js'

/** A way from user space to the controller. */
export interface Mode {
  readonly name: 'sysfs' | 'vfio' | 'vfio-noiommu'
  readonly title: string
  /** Modules of the guest's kernel beside those that every guest needs. */
  readonly modules: readonly string[]
  /** Of modules, by name. */
  readonly parameters: Readonly<Record<string, string>>
  readonly iommu: boolean
}

export const MODES: readonly Mode[] = [
  { name: 'sysfs', title: 'sysfs, IOMMU off', modules: [], parameters: {}, iommu: false },
  {
    name: 'vfio',
    title: 'VFIO type 1, IOMMU on',
    modules: ['vfio-pci', 'vfio_iommu_type1'],
    parameters: {},
    iommu: true,
  },
  {
    name: 'vfio-noiommu',
    title: 'VFIO without an IOMMU',
    modules: ['vfio-pci'],
    parameters: { vfio: 'enable_unsafe_noiommu_mode=1' },
    iommu: false,
  },
]

/** The kernel's own drivers of what QEMU has. */
const EVERY_GUEST = ['nvme', 'virtio_pci', '9pnet_virtio', '9p']

/** Why no guest can be started here, after the kind of what is missing; otherwise what it is made of. */
export function parts(): GuestParts | string {
  if (qemuMissing !== undefined) return `[vm] ${qemuMissing}`
  if (addonMissing !== undefined) return addonMissing
  const found = guestParts()
  return typeof found === 'string' ? `[vm] ${found}` : found
}

/** The modules of a mode's guest; text where one cannot be had: why. */
export function modulesOf({ modules, release }: GuestParts, mode: Mode): Module[] | string {
  const folder = new ModuleFolder(modules)
  if (mode.name === 'vfio-noiommu') {
    const vfio = noIommuModule(release)
    if (typeof vfio === 'string') return vfio
    folder.replace('vfio', vfio)
  }
  return folder
    .inOrder([...EVERY_GUEST, ...mode.modules])
    .map((module) => ({ ...module, parameters: mode.parameters[module.name] ?? '' }))
}

/** Two controllers, of which one can be pulled out, and memory in a BAR that stands in for a GPU's. */
export function devicesOf(mode: Mode): string[] {
  return [
    // First, so that it stands before all that it translates for.
    ...(mode.iommu ? ['-device', 'intel-iommu,intremap=on'] : []),
    ...['-device', 'nvme,id=fixed,serial=VM0001,drive=fixed,addr=4'],
    ...['-device', 'pcie-root-port,id=slot1,slot=1,chassis=1,addr=5'],
    ...['-device', 'nvme,id=loose,serial=VM0002,drive=loose,bus=slot1'],
    ...['-object', 'memory-backend-ram,id=vram,size=64M,share=on', '-device', 'ivshmem-plain,memdev=vram,addr=6'],
  ]
}

/** Where the devices are in the guest; what is behind the port is found there. */
export function environmentOf(mode: Mode): Scenario['environment'] & object {
  return { VM_MODE: mode.name, VM_FIXED: '0000:00:04.0', VM_PORT: '0000:00:05.0', VM_VRAM: '0000:00:06.0' }
}
