import type { Holder } from '@gpunvme/host-driver'
import type { Known } from './known.js'
import type { PciFunction } from './pci-function.js'

/**
 * Data that a Linux machine reports in files, all read, none guessed. Numbers have their unit in the name. `undefined`
 * means absent; an unknown value has a reason (`Known`).
 */
export interface Machine {
  /** Directory that contains sys/, proc/, etc/: '/' on a live machine. */
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
  /** All PCI functions that the kernel lists, by address. */
  readonly functions: readonly PciFunction[]
  readonly drives: readonly Drive[]
  readonly gpus: readonly Gpu[]
  /** Other disks that are neither NVMe namespaces nor made of other disks: 'sda'. */
  readonly otherDisks: readonly OtherDisk[]
  /** Relevant device nodes below /dev: 'nvidia0', 'vfio/vfio', 'gpunvme0', 'nvme0n1'. */
  readonly nodes: readonly string[]
}

export interface Kernel {
  /** As uname -r prints it: '6.12.43+deb13-amd64'. */
  readonly release: Known<string>
  /** Build options of the running kernel, of those in `KERNEL_OPTIONS`. */
  readonly config: Known<KernelConfig>
  /** Command line: 'quiet iommu=pt'. `parameter` finds a parameter. */
  readonly commandLine: Known<string>
  /** Kernel lockdown: 'integrity' and above blocks access to BARs and configuration space. */
  readonly lockdown: Known<'none' | 'integrity' | 'confidentiality'>
  /** ASPM policy of the kernel: 'default', 'performance', 'powersave', 'powersupersave'; undefined without ASPM. */
  readonly aspmPolicy: string | undefined
}

export interface KernelConfig {
  /** File that it was read from: '/boot/config-6.12.43+deb13-amd64'. */
  readonly source: string
  /** 'y', 'm', 'n' if not set, or a value, by name without CONFIG_. */
  readonly options: Readonly<Record<string, string>>
}

export interface Modules {
  readonly loaded: Known<readonly LoadedModule[]>
  /** The modules of `MODULES` that this kernel has as files or built in. Unknown if the directory is not readable. */
  readonly onDisk: Known<readonly string[]>
  readonly builtIn: Known<readonly string[]>
}

export interface LoadedModule {
  /** With underscores: 'vfio_pci'. */
  readonly name: string
  /** Number of references, by its users and other modules. */
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
  /** Words of ID_LIKE. */
  readonly like: readonly string[]
}

/** Data of the board from firmware (DMI). Each may be missing or meaningless. */
export interface Board {
  readonly vendor: string | undefined
  readonly name: string | undefined
  readonly systemVendor: string | undefined
  readonly systemName: string | undefined
  readonly biosVersion: string | undefined
  readonly biosDate: string | undefined
  /** SMBIOS chassis type: 'desktop', 'laptop', 'server' ...; undefined for others. */
  readonly chassis: 'desktop' | 'laptop' | 'server' | 'other' | undefined
}

export interface Cpu {
  readonly vendor: Known<'AMD' | 'Intel' | 'other'>
  /** 'AMD Ryzen 7 5800X 8-Core Processor'. */
  readonly model: Known<string>
  readonly family: number | undefined
  readonly modelNumber: number | undefined
  /** Number of processors that the kernel schedules on. */
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
  /** Whether EFI, not a BIOS, booted it. */
  readonly isEfi: boolean
  readonly secureBoot: Known<boolean>
  /** ACPI table that describes an IOMMU: 'DMAR' (Intel), 'IVRS' (AMD), 'IORT' (Arm). */
  readonly iommuTable: Known<'DMAR' | 'IVRS' | 'IORT' | undefined>
}

export interface Virtualisation {
  /** Undefined on bare metal. */
  readonly hypervisor: Finding | undefined
  readonly container: Finding | undefined
  /** Whether /sys is mounted read-only, as in containers. */
  readonly isSysReadOnly: Known<boolean>
}

/** A finding with its evidence: { name: 'KVM (QEMU)', evidence: '/sys/class/dmi/id/sys_vendor: QEMU' }. */
export interface Finding {
  readonly name: string
  readonly evidence: string
}

export interface Iommu {
  /**
   * 'off': no function has a group. 'passthrough': all default domains are identity mappings. 'translated': all
   * translate. 'mixed': some translate. 'unknown': there are groups of unknown type.
   */
  readonly mode: 'off' | 'passthrough' | 'translated' | 'mixed' | 'unknown'
  /** Sentences, each with its source file. */
  readonly evidence: readonly string[]
  /** 'AMD-Vi', 'Intel VT-d', 'Arm SMMU', 'virtio-iommu', by /sys/class/iommu; undefined without one. */
  readonly kind: string | undefined
  readonly groups: readonly Group[]
}

export interface Group {
  readonly number: number
  /** Type of its default domain: 'identity', 'DMA', 'DMA-FQ', 'blocked', 'auto'; undefined if not reported. */
  readonly type: string | undefined
  /** Addresses of its functions. */
  readonly functions: readonly string[]
}

/** An NVMe controller on PCI: class code 010802h. */
export interface Drive {
  readonly address: string
  /** Linux's name, 'nvme0'; undefined if Linux's nvme driver is not bound. */
  readonly name: string | undefined
  readonly model: Known<string>
  readonly serial: Known<string>
  readonly firmware: Known<string>
  /** State in the driver: 'live', 'resetting', 'dead' ...; undefined if Linux's nvme driver is not bound. */
  readonly state: string | undefined
  /** Queue pairs of the driver including the Admin queue, and entries of an I/O queue. */
  readonly queues: { readonly count: number | undefined; readonly entries: number | undefined } | undefined
  readonly namespaces: Known<readonly Namespace[]>
  /** Users of the drive on this machine, from the write guard; empty if there are none. */
  readonly holders: Known<readonly Holder[]>
  readonly temperature: Known<Temperature>
  /** Whether the driver provides a Host Memory Buffer (HMB). */
  readonly hostMemoryBuffer: Known<boolean>
}

export interface Namespace {
  /** 'nvme0n1'. */
  readonly name: string
  readonly sizeBytes: number
  readonly blockBytes: number
  /** Maximum bytes of a command, by MDTS and the driver's own limit. */
  readonly maxTransferBytes: number | undefined
  /** Format of the namespace itself, from udev: file system, volume manager, RAID, encryption, or partition table. */
  readonly format: Known<string>
  /** Partitions in the kernel, by number. */
  readonly partitions: readonly Partition[]
}

export interface Partition {
  /** 'nvme0n1p1'. */
  readonly name: string
  readonly sizeBytes: number
  /** From udev: 'ext4', 'ntfs', 'crypto_LUKS'. */
  readonly format: Known<string>
}

export interface Temperature {
  readonly celsius: number
  /** Temperatures above which the drive throttles (WCTEMP), and which it calls critical (CCTEMP). */
  readonly warningCelsius: number | undefined
  readonly criticalCelsius: number | undefined
}

/** A display or 3D controller by a vendor of GPUs for computing. */
export interface Gpu {
  readonly address: string
  readonly vendor: 'NVIDIA' | 'AMD' | 'Intel'
  /**
   * Whether it is part of an Intel processor, without memory of its own. Integrated graphics of AMD are not recognised.
   */
  readonly isIntegrated: boolean
  /** 'NVIDIA GeForce RTX 3090', from its driver or the list of PCI IDs; otherwise unknown. */
  readonly model: Known<string>
  readonly memoryBytes: Known<number>
  /**
   * The window to its memory, NVIDIA's BAR1: the second memory BAR, which is PCI BAR 1 after a 32-bit BAR0 and PCI BAR
   * 2 after a 64-bit one. `bar` is the number in PCI and sysfs.
   */
  readonly window: Known<GpuWindow>
}

export interface GpuWindow {
  readonly bar: number
  readonly sizeBytes: number
  /** Bus address. Above 4 GiB only with "Above 4G Decoding" in firmware. */
  readonly address: number
  /** Sizes in its Resizable BAR capability; undefined without that capability. */
  readonly sizesBytes: Known<readonly number[] | undefined>
}

export interface OtherDisk {
  readonly name: string
  readonly sizeBytes: number
  readonly model: string | undefined
}
