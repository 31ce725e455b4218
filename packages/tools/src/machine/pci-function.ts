import type { Known } from './known.js'

/** One PCI function, by sysfs and, as far as it is shown, by its configuration space. */
export interface PciFunction {
  /** '0000:0b:00.0'. */
  readonly address: string
  readonly vendorId: number
  readonly deviceId: number
  readonly subsystemVendorId: number | undefined
  readonly subsystemId: number | undefined
  /** Base class, sub class and programming interface: 0x010802. */
  readonly classCode: number
  readonly revision: number | undefined
  /** By the list of PCI IDs, where this machine has one. */
  readonly vendorName: string | undefined
  readonly deviceName: string | undefined
  readonly driver: string | undefined
  /** The only driver that may bind to it; undefined where any may. */
  readonly driverOverride: string | undefined
  /** Number of its IOMMU group. */
  readonly group: number | undefined
  readonly numaNode: number | undefined
  /** Domain and bus of the host bridge that leads to it: '0000:00'. */
  readonly hostBridge: string
  /** The bridge that it is behind; undefined on the host bridge's own bus. */
  readonly parent: string | undefined
  readonly kind: FunctionKind
  /** By the rest of the system: false where it reads all ones, as what is in D3cold or has left the bus does. */
  readonly answers: boolean
  readonly link: Known<Link | undefined>
  /** What its ports or functions may send and ask for, in bytes. */
  readonly packets: Known<Packets | undefined>
  readonly aspm: Known<Aspm | undefined>
  /** Of bridges and multi-function devices; undefined without the capability. */
  readonly acs: Known<Acs | undefined>
  readonly bars: readonly Bar[]
  readonly resizableBars: Known<readonly ResizableBar[]>
  readonly power: Power
  /** Function Level Reset. */
  readonly hasFunctionLevelReset: Known<boolean>
  readonly errors: Known<Errors | undefined>
  /** Downstream Port Containment: the port takes its link down at an error; undefined without the capability. */
  readonly containment: Known<{ readonly isEnabled: boolean } | undefined>
  /** Address Translation Services; undefined without the capability. */
  readonly translation: Known<{ readonly isEnabled: boolean } | undefined>
  readonly canMasterBus: Known<boolean>
}

export type FunctionKind =
  'host-bridge' | 'root-port' | 'switch-upstream' | 'switch-downstream' | 'bridge' | 'endpoint' | 'integrated-endpoint'

export interface LinkShape {
  /** PCIe generation: 1 for 2.5 GT/s to 6 for 64 GT/s. */
  readonly gen: number
  readonly lanes: number
}

export interface Link {
  /** What this end could do. */
  readonly max: LinkShape
  /** What both ends have agreed upon; unknown while the link is down or the function sleeps. */
  readonly now: Known<LinkShape>
}

export interface Packets {
  readonly maxPayloadSupportedBytes: number
  readonly maxPayloadBytes: number
  readonly maxReadRequestBytes: number
}

export interface Aspm {
  /** Of L0s and L1. */
  readonly supported: readonly ('L0s' | 'L1')[]
  readonly enabled: readonly ('L0s' | 'L1')[]
}

/** ACS bits in pairs: what the port can do, and what it is told to. */
export interface Acs {
  readonly supported: readonly AcsBit[]
  readonly enabled: readonly AcsBit[]
}

/** Source Validation, Translation Blocking, P2P Request and Completion Redirect, Upstream Forwarding, Egress Control, Direct Translated P2P. */
export type AcsBit = 'SV' | 'TB' | 'RR' | 'CR' | 'UF' | 'EC' | 'DT'

export interface Bar {
  /** 0 to 5, as PCI and sysfs count. */
  readonly bar: number
  readonly space: 'memory' | 'io'
  readonly is64Bit: boolean
  readonly isPrefetchable: boolean
  /** As the CPU sees it; a number below 2^53. */
  readonly address: number
  readonly sizeBytes: number
}

export interface ResizableBar {
  readonly bar: number
  readonly sizeBytes: number
  readonly sizesBytes: readonly number[]
}

export interface Power {
  /** 'D0', 'D3hot', 'D3cold', 'unknown': as the kernel keeps it; undefined where it does not say. */
  readonly state: string | undefined
  /** 'on': never put to sleep. 'auto': whenever nobody uses it. */
  readonly control: string | undefined
  /** 'active', 'suspended'. */
  readonly runtimeStatus: string | undefined
  readonly isD3coldAllowed: boolean | undefined
}

/** Errors that Advanced Error Reporting holds since somebody last cleared them, by the spec's short names. */
export interface Errors {
  readonly correctable: readonly string[]
  readonly uncorrectable: readonly string[]
}
