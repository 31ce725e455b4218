import { gpunvmeModule } from './kmod-build.js'
import { guestParts, type GuestParts } from './parts.js'
import { addonMissing } from './bundle.js'
import { qemuMissing } from './guest.js'
import { ModuleFolder, type Module } from './modules.js'
import { noIommuModule } from './noiommu.js'
import type { Scenario } from './protocol.js'

/** A method of accessing the controller from user space. */
export interface Mode {
  readonly name: 'sysfs' | 'vfio' | 'vfio-noiommu' | 'kmod' | 'kmod-iommu' | 'kmod-pt'
  readonly title: string
  /** The controller to unplug: its QEMU id, and the address of its port in the guest. */
  readonly loose: { readonly id: string; readonly port: string }
  /** Index of the share of transport-independent driver cases to run, and number of shares. */
  readonly cases: readonly [share: number, of: number]
}

/** A guest that tests modes one after another. */
export interface Boot {
  readonly iommu: keyof typeof IOMMU
  readonly modes: readonly Mode[]
}

/** Kernel parameters by IOMMU mode. */
export const IOMMU = { none: '', translated: 'intel_iommu=on', passthrough: 'intel_iommu=on iommu=pt' } as const

/** The two controllers that can be unplugged. */
export const LOOSE = [
  { id: 'loose1', port: '0000:00:05.0' },
  { id: 'loose2', port: '0000:00:07.0' },
] as const satisfies readonly Mode['loose'][]

const SYSFS: Mode = {
  name: 'sysfs',
  title: 'sysfs, IOMMU off',
  loose: LOOSE[0],
  cases: [0, 3],
}
const NO_IOMMU: Mode = {
  name: 'vfio-noiommu',
  title: 'VFIO without an IOMMU',
  loose: LOOSE[1],
  cases: [1, 3],
}
const TYPE1: Mode = { name: 'vfio', title: 'VFIO type 1, IOMMU on', loose: LOOSE[0], cases: [2, 3] }
const KMOD: Mode = { name: 'kmod', title: 'the module gpunvme, IOMMU off', loose: LOOSE[0], cases: [0, 2] }
const KMOD_IOMMU: Mode = {
  name: 'kmod-iommu',
  title: 'the module gpunvme, IOMMU on',
  loose: LOOSE[0],
  cases: [1, 2],
}
const KMOD_PASSTHROUGH: Mode = {
  name: 'kmod-pt',
  title: 'the module gpunvme, an IOMMU that maps nothing',
  loose: LOOSE[0],
  cases: [0, 1],
}

export const BOOTS: readonly Boot[] = [
  { iommu: 'none', modes: [SYSFS, NO_IOMMU] },
  { iommu: 'translated', modes: [TYPE1] },
]

export const MODULE_BOOTS: readonly Boot[] = [
  { iommu: 'none', modes: [KMOD] },
  { iommu: 'translated', modes: [KMOD_IOMMU] },
  { iommu: 'passthrough', modes: [KMOD_PASSTHROUGH] },
]

export const MODES: readonly Mode[] = [...BOOTS, ...MODULE_BOOTS].flatMap(({ modes }) => modes)

/** Kernel drivers of QEMU's devices. */
const EVERY_GUEST = ['nvme', 'virtio_pci', '9pnet_virtio', '9p']
const VFIO_TYPE1 = ['vfio-pci', 'vfio_iommu_type1']

/**
 * Returns the files of a guest; a string states why none can run, and begins with the kind of the missing requirement.
 */
export function parts(): GuestParts | string {
  if (qemuMissing !== undefined) return `[vm] ${qemuMissing}`
  if (addonMissing !== undefined) return addonMissing
  const found = guestParts()
  return typeof found === 'string' ? `[vm] ${found}` : found
}

/** Returns the kernel modules for a mode; a string states why one is unavailable. */
export function modulesOf({ modules, release }: GuestParts, mode: Pick<Mode, 'name'>): Module[] | string {
  const folder = new ModuleFolder(modules)
  if (mode.name === 'sysfs') return folder.inOrder(EVERY_GUEST)
  if (mode.name === 'vfio') return folder.inOrder([...EVERY_GUEST, ...VFIO_TYPE1])
  if (isKmod(mode.name)) {
    const gpunvme = gpunvmeModule(release)
    if (typeof gpunvme === 'string') return gpunvme
    folder.replace('gpunvme', gpunvme)
    return folder.inOrder([...EVERY_GUEST, 'gpunvme'])
  }
  const vfio = noIommuModule(release)
  if (typeof vfio === 'string') return vfio
  folder.replace('vfio', vfio)
  return folder.inOrder([...EVERY_GUEST, 'vfio-pci'])
}

/** Returns whether a mode uses the gpunvme module. */
export function isKmod(name: string): boolean {
  return name.startsWith('kmod')
}

const MIB = 1024 * 1024

/** Drives of the guest by QEMU drive id, with their sizes and the serial numbers of their controllers. */
export const DRIVES = {
  fixed: { serial: 'VM0001', bytes: 256 * MIB },
  loose1: { serial: 'VM0002', bytes: 64 * MIB },
  loose2: { serial: 'VM0003', bytes: 64 * MIB },
  twin1: { serial: 'VM0004', bytes: MIB },
  twin2: { serial: 'VM0005', bytes: MIB },
} as const

/**
 * Returns QEMU arguments for controllers, two of which can be unplugged and two share a slot, and for a BAR of memory.
 */
export function devicesOf({ iommu }: Boot): string[] {
  const nvme = (id: keyof typeof DRIVES, place: string) => [
    '-device',
    `nvme,id=${id},serial=${DRIVES[id].serial},drive=${id},${place}`,
  ]
  const port = (slot: number, address: number) => [
    '-device',
    `pcie-root-port,id=slot${slot},slot=${slot},chassis=${slot},addr=${address}`,
  ]
  return [
    // The IOMMU precedes the devices that it translates for.
    ...(iommu !== 'none' ? ['-device', 'intel-iommu,intremap=on'] : []),
    ...nvme('fixed', 'addr=4'),
    ...port(1, 5),
    ...nvme('loose1', 'bus=slot1'),
    ...['-object', 'memory-backend-ram,id=vram,size=64M,share=on', '-device', 'ivshmem-plain,memdev=vram,addr=6'],
    ...port(2, 7),
    ...nvme('loose2', 'bus=slot2'),
    // Functions in one IOMMU group, since nothing isolates them from each other.
    ...nvme('twin1', 'addr=8.0,multifunction=on'),
    ...nvme('twin2', 'addr=8.1'),
  ]
}

/** Returns environment variables with the addresses of devices. Scenarios look up the device behind the port. */
export function environmentOf({ name, loose }: Mode): Scenario['environment'] & object {
  return {
    VM_MODE: name,
    VM_FIXED: '0000:00:04.0',
    VM_LOOSE: loose.id,
    VM_PORT: loose.port,
    VM_VRAM: '0000:00:06.0',
    VM_TWINS: '0000:00:08.0 0000:00:08.1',
  }
}
