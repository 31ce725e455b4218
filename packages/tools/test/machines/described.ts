import type { DescribedDriver } from '../nvidia/described-driver.js'

/** A machine in the words of whoever has it before them. `writeMachine` makes its files. */
export interface Described {
  /** 'amd-b450-rtx3090': also the name of its goldens. */
  readonly name: string
  /** What it is there to show, in a sentence. */
  readonly point: string
  readonly board: { readonly vendor: string; readonly name: string; readonly chassis: number; readonly bios?: string }
  readonly cpu: DescribedCpu
  readonly memoryGib: number
  readonly kernel: string
  readonly distribution: DescribedDistribution
  /** Beside what the distribution's kernels are built with: { VFIO_NOIOMMU: 'y' }. */
  readonly config?: Readonly<Record<string, 'y' | 'm' | 'n'>>
  /** No file has the kernel's configuration. */
  readonly hidesConfig?: boolean
  readonly commandLine?: string
  readonly lockdown?: 'none' | 'integrity' | 'confidentiality'
  readonly efi?: { readonly secureBoot: boolean }
  /** 'off' when not given. */
  readonly iommu?: 'off' | 'passthrough' | 'translated'
  readonly hugePages?: readonly { readonly kib: number; readonly pages: number; readonly free: number }[]
  readonly lockLimitBytes?: number
  /** By the host bridge that they are below, '0000:00'. */
  readonly pci: Readonly<Record<string, readonly DescribedFunction[]>>
  readonly nvidia?: DescribedDriver
  /** Loaded beside those of the drivers that are bound: 'gpunvme', 'vfio_pci'. */
  readonly modules?: readonly string[]
  /** As files of this kernel, beside the usual ones. */
  readonly moduleFiles?: readonly string[]
  readonly mounts?: readonly { readonly source: string; readonly where: string; readonly type: string }[]
  readonly swaps?: readonly string[]
  /** Properties that udev has found on block devices, by name: { nvme0n1p1: { ID_FS_TYPE: 'vfat' } }. */
  readonly udev?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** What stands on a partition or disk: LUKS, LVM, md. */
  readonly stacked?: readonly DescribedStack[]
  readonly zfs?: { readonly pool: string; readonly devices: readonly string[] }
  readonly processes?: readonly { readonly pid: number; readonly name: string; readonly open: readonly string[] }[]
  /** 'sda': SATA disks. */
  readonly disks?: readonly { readonly name: string; readonly gib: number; readonly model: string }[]
  readonly nodes?: readonly string[]
  readonly isContainer?: boolean
  /** Configuration space is shown as to root. True when not given. */
  readonly isRoot?: boolean
  /** The list of PCI IDs is there. True when not given. */
  readonly hasNames?: boolean
}

export interface DescribedCpu {
  readonly vendor: 'AuthenticAMD' | 'GenuineIntel'
  readonly model: string
  readonly family: number
  readonly number: number
  readonly threads: number
  readonly sockets?: number
  readonly isVirtual?: boolean
}

export interface DescribedDistribution {
  readonly id: string
  readonly version?: string
  readonly name: string
  readonly like?: string
  readonly config: Readonly<Record<string, 'y' | 'm'>>
}

export interface Shape {
  readonly gen: number
  readonly lanes: number
}

export interface DescribedBar {
  readonly bar: number
  readonly mib: number
  readonly is64Bit?: boolean
  readonly isPrefetchable?: boolean
}

export interface DescribedFunction {
  /** '0b:00.0', or with its domain. */
  readonly address: string
  readonly vendor: number
  readonly device: number
  /** As the list of PCI IDs names them. */
  readonly vendorName: string
  readonly deviceName: string
  readonly classCode: number
  readonly type: 'root-port' | 'upstream' | 'downstream' | 'endpoint' | 'integrated' | 'conventional'
  readonly max?: Shape | undefined
  /** What both ends can do when not given. */
  readonly now?: Shape | 'down' | undefined
  /** 256 supported and set when not given. */
  readonly payloadBytes?: { readonly supported: number; readonly set: number }
  readonly readRequestBytes?: number
  readonly aspm?: readonly ('L0s' | 'L1')[]
  /** Bits of ACS that are on, of those that the port has: SV TB RR CR UF. Undefined: no capability. */
  readonly acs?: readonly string[]
  readonly bars?: readonly DescribedBar[]
  /** Sizes that the Resizable BAR capability offers for a BAR, in MiB. */
  readonly resizable?: { readonly bar: number; readonly sizesMib: readonly number[] }
  readonly hasReset?: boolean
  readonly errors?: { readonly correctable?: number; readonly uncorrectable?: number }
  readonly containment?: boolean
  readonly driver?: string | undefined
  readonly driverOverride?: string
  readonly node?: number
  /** Character device that its driver made: 'gpunvme0'. */
  readonly misc?: string
  readonly power?: {
    readonly state?: string
    readonly control?: string
    readonly runtime?: string
    readonly d3cold?: boolean
  }
  /** It has left the bus: configuration space reads all ones. */
  readonly isGone?: boolean
  readonly vramMib?: number
  readonly gpuModel?: string
  readonly nvme?: DescribedDrive
  readonly behind?: readonly DescribedFunction[]
}

export interface DescribedDrive {
  readonly name: string
  readonly model: string
  readonly serial: string
  readonly firmware: string
  readonly state?: string
  readonly celsius?: number
  readonly hmb?: boolean
  readonly namespaces: readonly {
    readonly gib: number
    readonly blockBytes?: number
    readonly transferKib?: number
    readonly partitions?: number
  }[]
}

export interface DescribedStack {
  readonly on: readonly string[]
  readonly name: string
  readonly label?: string
  readonly uuid?: string
  readonly level?: string
}
