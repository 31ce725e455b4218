import type { Holder } from '@gpunvme/host-driver'
import type { Known } from './known.js'
import type { PciFunction } from './pci-function.js'

/**
 * What a Linux machine says of itself in files: plain data, all of it read, nothing guessed. Numbers carry their unit
 * in their name. `undefined` means that there is none; what could not be learnt says why (`Known`).
 */
export interface Machine {
  /** Where sys/, proc/, etc/ were read: '/' on a live machine. */
  readonly root: string
  readonly kernel: Kernel
  readonly modules: Modules
  readonly distribution: Known<Distribution>
  readonly board: Board
  readonly cpu: Cpu
  readonly memory: Memory
  readonly firmware: Firmware
  readonly virtualisation: Virtualisation
  readonly iommu: Iommu
  /** Every PCI function that the kernel lists, by address. */
  readonly functions: readonly PciFunction[]
  readonly drives: readonly Drive[]
  readonly gpus: readonly Gpu[]
  /** Disks that are no NVMe namespaces and not made of others: 'sda'. */
  readonly otherDisks: readonly OtherDisk[]
  /** Device nodes of the kinds that matter here, below /dev: 'nvidia0', 'vfio/vfio', 'gpunvme0', 'nvme0n1'. */
  readonly nodes: readonly string[]
}

export interface Kernel {
  /** As uname -r prints it: '6.12.43+deb13-amd64'. */
  readonly release: Known<string>
  /** What the running kernel was built with, of the options that `KERNEL_OPTIONS` names. */
  readonly config: Known<KernelConfig>
  /** As it was started: 'quiet iommu=pt'. `parameter` finds one of its words. */
  readonly commandLine: Known<string>
  /** What root may still do: lockdown refuses access to BARs and to configuration space in 'integrity' already. */
  readonly lockdown: Known<'none' | 'integrity' | 'confidentiality'>
  /** ASPM by policy of the kernel: 'default', 'performance', 'powersave', 'powersupersave'; undefined without ASPM. */
  readonly aspmPolicy: string | undefined
}

export interface KernelConfig {
  /** The file it was read from: '/boot/config-6.12.43+deb13-amd64'. */
  readonly source: string
  /** 'y', 'm', 'n' where it is not set, or a value, by name without CONFIG_. */
  readonly options: Readonly<Record<string, string>>
}

export interface Modules {
  readonly loaded: Known<readonly LoadedModule[]>
  /** Of `MODULES` those that this kernel has as files, and those built in. Unknown where its folder cannot be read. */
  readonly onDisk: Known<readonly string[]>
  readonly builtIn: Known<readonly string[]>
}

export interface LoadedModule {
  /** With underscores: 'vfio_pci'. */
  readonly name: string
  /** What refers to it; its own users and other modules. */
  readonly references: number
  readonly usedBy: readonly string[]
  /** 'P' proprietary, 'O' out of tree, 'E' unsigned ...; '' for none. */
  readonly taints: string
}

export interface Distribution {
  /** ID of os-release: 'debian'. */
  readonly id: string
  /** VERSION_ID: '13'; undefined for rolling ones. */
  readonly version: string | undefined
  /** PRETTY_NAME: 'Debian GNU/Linux 13 (trixie)'. */
  readonly name: string
  /** ID_LIKE, as words. */
  readonly like: readonly string[]
}

/** What firmware says of the board (DMI); each may be missing, and some boards say nonsense. */
export interface Board {
  readonly vendor: string | undefined
  readonly name: string | undefined
  readonly systemVendor: string | undefined
  readonly systemName: string | undefined
  readonly biosVersion: string | undefined
  readonly biosDate: string | undefined
  /** SMBIOS chassis type in a word: 'desktop', 'laptop', 'server' ...; undefined where it is another. */
  readonly chassis: 'desktop' | 'laptop' | 'server' | 'other' | undefined
}

export interface Cpu {
  readonly vendor: Known<'AMD' | 'Intel' | 'other'>
  /** 'AMD Ryzen 7 5800X 8-Core Processor'. */
  readonly model: Known<string>
  readonly family: number | undefined
  readonly modelNumber: number | undefined
  /** Processors that the kernel schedules on. */
  readonly threads: number
  readonly sockets: number
}

export interface Memory {
  readonly totalBytes: Known<number>
  readonly availableBytes: Known<number>
  readonly hugePages: readonly HugePages[]
  /** RLIMIT_MEMLOCK of this process: bytes that it may lock, soft and hard. */
  readonly lockLimit: Known<{ readonly softBytes: number | 'unlimited'; readonly hardBytes: number | 'unlimited' }>
}

export interface HugePages {
  readonly pageBytes: number
  /** NUMA node; undefined for the machine as a whole. */
  readonly node: number | undefined
  readonly pages: number
  readonly freePages: number
}

export interface Firmware {
  /** Started by EFI, not by a BIOS. */
  readonly isEfi: boolean
  readonly secureBoot: Known<boolean>
  /** Whether its ACPI tables describe an IOMMU: 'DMAR' (Intel), 'IVRS' (AMD), 'IORT' (Arm). */
  readonly iommuTable: Known<'DMAR' | 'IVRS' | 'IORT' | undefined>
}

export interface Virtualisation {
  /** Undefined on bare metal. */
  readonly hypervisor: Finding | undefined
  readonly container: Finding | undefined
  /** Whether /sys is mounted read-only, as containers have it. */
  readonly isSysReadOnly: Known<boolean>
}

/** What was found, and by what: { name: 'KVM (QEMU)', evidence: '/sys/class/dmi/id/sys_vendor: QEMU' }. */
export interface Finding {
  readonly name: string
  readonly evidence: string
}

export interface Iommu {
  /**
   * 'off': no function has a group. 'passthrough': every group's default domain maps nothing. 'translated': every one
   * translates. 'mixed': some do. 'unknown': there are groups, and the kernel does not say what they do.
   */
  readonly mode: 'off' | 'passthrough' | 'translated' | 'mixed' | 'unknown'
  /** Sentences, each with the file it is from. */
  readonly evidence: readonly string[]
  /** 'AMD-Vi', 'Intel VT-d', 'Arm SMMU', 'virtio-iommu', as /sys/class/iommu names them; undefined without one. */
  readonly kind: string | undefined
  readonly groups: readonly Group[]
}

export interface Group {
  readonly number: number
  /** Of its default domain: 'identity', 'DMA', 'DMA-FQ', 'blocked', 'auto'; undefined where the kernel does not say. */
  readonly type: string | undefined
  /** Addresses of its functions. */
  readonly functions: readonly string[]
}

/** An NVMe controller on PCI: class code 010802h. */
export interface Drive {
  readonly address: string
  /** The driver's name for it, 'nvme0'; undefined where Linux's nvme driver does not have it. */
  readonly name: string | undefined
  readonly model: Known<string>
  readonly serial: Known<string>
  readonly firmware: Known<string>
  /** Of the driver: 'live', 'resetting', 'dead' ...; undefined where Linux's nvme driver does not have it. */
  readonly state: string | undefined
  /** Queue pairs that the driver has set up, the admin one counted, and entries of an I/O queue. */
  readonly queues: { readonly count: number | undefined; readonly entries: number | undefined } | undefined
  readonly namespaces: Known<readonly Namespace[]>
  /** Who on this machine uses it, by the write guard; none is an empty list. */
  readonly holders: Known<readonly Holder[]>
  readonly temperature: Known<Temperature>
  /** Whether the driver lends it memory of the host (HMB). */
  readonly hostMemoryBuffer: Known<boolean>
}

export interface Namespace {
  /** 'nvme0n1'. */
  readonly name: string
  readonly sizeBytes: number
  readonly blockBytes: number
  /** What one command may carry, by MDTS and the driver's own limit. */
  readonly maxTransferBytes: number | undefined
  /** Format of the namespace itself, by udev: file system, volume manager, RAID, encryption, or kind of partition table. */
  readonly format: Known<string>
  /** Partitions that the kernel has found, by number. */
  readonly partitions: readonly Partition[]
}

export interface Partition {
  /** 'nvme0n1p1'. */
  readonly name: string
  readonly sizeBytes: number
  /** By udev: 'ext4', 'ntfs', 'crypto_LUKS'. */
  readonly format: Known<string>
}

export interface Temperature {
  readonly celsius: number
  /** From where on the drive slows down (WCTEMP), and what it calls critical (CCTEMP). */
  readonly warningCelsius: number | undefined
  readonly criticalCelsius: number | undefined
}

/** A display or 3D controller of a vendor that makes GPUs to compute with. */
export interface Gpu {
  readonly address: string
  readonly vendor: 'NVIDIA' | 'AMD' | 'Intel'
  /** Part of an Intel processor, with no memory of its own. Of AMD's nothing tells. */
  readonly isIntegrated: boolean
  /** 'NVIDIA GeForce RTX 3090', by its driver; else by the list of PCI IDs; else unknown. */
  readonly model: Known<string>
  readonly memoryBytes: Known<number>
  /**
   * The window to its memory. NVIDIA calls it BAR1: the second memory BAR, which is PCI BAR 1 after a 32-bit BAR0 and
   * PCI BAR 2 after a 64-bit one. `bar` is the number that PCI and sysfs count by.
   */
  readonly window: Known<GpuWindow>
}

export interface GpuWindow {
  readonly bar: number
  readonly sizeBytes: number
  /** On the bus. Above 4 GiB only where firmware has "Above 4G Decoding". */
  readonly address: number
  /** Sizes that its Resizable BAR capability offers; undefined without that capability. */
  readonly sizesBytes: Known<readonly number[] | undefined>
}

export interface OtherDisk {
  readonly name: string
  readonly sizeBytes: number
  readonly model: string | undefined
}
