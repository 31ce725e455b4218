import type { DescribedDriver } from '../nvidia/described-driver.js'

/** Description of a machine, from which `writeMachine` writes its system files. */
export interface Described {
  /** 'amd-b450-rtx3090'. Also names its golden files. */
  readonly name: string
  /** What the machine demonstrates, in one sentence. */
  readonly point: string
  readonly board: { readonly vendor: string; readonly name: string; readonly chassis: number; readonly bios?: string }
  readonly cpu: DescribedCpu
  readonly memoryGib: number
  readonly kernel: string
  readonly distribution: DescribedDistribution
  /** Differences from the kernel configuration of the distribution: { VFIO_NOIOMMU: 'y' }. */
  readonly config?: Readonly<Record<string, 'y' | 'm' | 'n'>>
  /** True if there is no file with the kernel configuration. */
  readonly hidesConfig?: boolean
  readonly commandLine?: string
  readonly lockdown?: 'none' | 'integrity' | 'confidentiality'
  readonly efi?: { readonly secureBoot: boolean }
  /** Default: 'off'. */
  readonly iommu?: 'off' | 'passthrough' | 'translated'
  readonly hugePages?: readonly { readonly kib: number; readonly pages: number; readonly free: number }[]
  readonly lockLimitBytes?: number
  /** By host bridge: '0000:00'. */
  readonly pci: Readonly<Record<string, readonly DescribedFunction[]>>
  readonly nvidia?: DescribedDriver
  /** Loaded modules besides those of bound drivers: 'gpunvme', 'vfio_pci'. */
  readonly modules?: readonly string[]
  /** Module files of this kernel besides the usual ones. */
  readonly moduleFiles?: readonly string[]
  readonly mounts?: readonly { readonly source: string; readonly where: string; readonly type: string }[]
  readonly swaps?: readonly string[]
  /** udev properties of block devices: { nvme0n1p1: { ID_FS_TYPE: 'vfat' } }. */
  readonly udev?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Devices stacked on a partition or disk: LUKS, LVM, md. */
  readonly stacked?: readonly DescribedStack[]
  readonly zfs?: { readonly pool: string; readonly devices: readonly string[] }
  readonly processes?: readonly { readonly pid: number; readonly name: string; readonly open: readonly string[] }[]
  /** SATA disks: 'sda'. */
  readonly disks?: readonly { readonly name: string; readonly gib: number; readonly model: string }[]
  readonly nodes?: readonly string[]
  readonly isContainer?: boolean
  /** True if all of configuration space is readable, as for root. Default: true. */
  readonly isRoot?: boolean
  /** True if the list of PCI IDs exists. Default: true. */
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
  /** '0b:00.0', or with a domain. */
  readonly address: string
  readonly vendor: number
  readonly device: number
  /** Names in the list of PCI IDs. */
  readonly vendorName: string
  readonly deviceName: string
  readonly classCode: number
  readonly type: 'root-port' | 'upstream' | 'downstream' | 'endpoint' | 'integrated' | 'conventional'
  readonly max?: Shape | undefined
  /** Default: the best link that both ends support. */
  readonly now?: Shape | 'down' | undefined
  /** Default: 256 supported and set. */
  readonly payloadBytes?: { readonly supported: number; readonly set: number }
  readonly readRequestBytes?: number
  readonly aspm?: readonly ('L0s' | 'L1')[]
  /** Enabled ACS bits, of SV, TB, RR, CR and UF. Undefined: no capability. */
  readonly acs?: readonly string[]
  readonly bars?: readonly DescribedBar[]
  /** BAR sizes of the Resizable BAR capability in MiB. */
  readonly resizable?: { readonly bar: number; readonly sizesMib: readonly number[] }
  readonly hasReset?: boolean
  readonly errors?: { readonly correctable?: number; readonly uncorrectable?: number }
  readonly containment?: boolean
  readonly driver?: string | undefined
  readonly driverOverride?: string
  readonly node?: number
  /** Character device of its driver: 'gpunvme0'. */
  readonly misc?: string
  readonly power?: {
    readonly state?: string
    readonly control?: string
    readonly runtime?: string
    readonly d3cold?: boolean
  }
  /** True if it was removed from the bus: configuration space reads all ones. */
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
