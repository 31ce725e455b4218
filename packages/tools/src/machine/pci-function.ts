import type { Known } from './known.js'

/** A PCI function, from sysfs and the visible part of its configuration space. */
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
  /** From the list of PCI IDs, if the machine has one. */
  readonly vendorName: string | undefined
  readonly deviceName: string | undefined
  readonly driver: string | undefined
  /** The only driver that may bind to it; undefined if any may. */
  readonly driverOverride: string | undefined
  /** Number of its IOMMU group. */
  readonly group: number | undefined
  readonly numaNode: number | undefined
  /** Domain and bus of the host bridge that leads to it: '0000:00'. */
  readonly hostBridge: string
  /** The bridge above it; undefined on the host bridge's own bus. */
  readonly parent: string | undefined
  readonly kind: FunctionKind
  /** False if it reads all ones, as in D3cold or off the bus. */
  readonly isResponding: boolean
  readonly link: Known<Link | undefined>
  /** Maximum payload and read request sizes in bytes. */
  readonly packets: Known<Packets | undefined>
  readonly aspm: Known<Aspm | undefined>
  /** For bridges and multi-function devices; undefined without the capability. */
  readonly acs: Known<Acs | undefined>
  readonly bars: readonly Bar[]
  readonly resizableBars: Known<readonly ResizableBar[]>
  readonly power: Power
  /** Function Level Reset. */
  readonly hasFunctionLevelReset: Known<boolean>
  readonly errors: Known<Errors | undefined>
  /** Downstream Port Containment: an error takes the link down; undefined without the capability. */
  readonly containment: Known<{ readonly isEnabled: boolean } | undefined>
  /** Address Translation Services; undefined without the capability. */
  readonly translation: Known<{ readonly isEnabled: boolean } | undefined>
  readonly canMasterBus: Known<boolean>
}

export type FunctionKind =
  | 'host-bridge'
  | 'root-port'
  | 'switch-upstream'
  | 'switch-downstream'
  | 'bridge'
  | 'endpoint'
  | 'integrated-endpoint'

export interface LinkShape {
  /** PCIe generation: 1 for 2.5 GT/s to 6 for 64 GT/s. */
  readonly gen: number
  readonly lanes: number
}

export interface Link {
  /** Maximum of this end. */
  readonly max: LinkShape
  /** Negotiated by both ends; unknown while the link is down or the function sleeps. */
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

/** ACS bits: supported and enabled. */
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
  /** 'D0', 'D3hot', 'D3cold', 'unknown', from the kernel; undefined if not reported. */
  readonly state: string | undefined
  /** 'on': never suspended. 'auto': suspended when unused. */
  readonly control: string | undefined
  /** 'active', 'suspended'. */
  readonly runtimeStatus: string | undefined
  readonly isD3coldAllowed: boolean | undefined
}

/** Errors recorded by Advanced Error Reporting since the last clear, by the specification's short names. */
export interface Errors {
  readonly correctable: readonly string[]
  readonly uncorrectable: readonly string[]
}
