import { zeroBased } from '@gpunvme/nvme-spec'
import {
  AdvancedErrorReporting,
  MsixCapability,
  NVME_CLASS_CODE,
  PCI_CAPABILITY,
  PCI_EXTENDED_CAPABILITY,
  PCIE_CONFIG_BYTES,
  PciExpressCapability,
  PciHeader,
  PowerManagementCapability,
} from '@gpunvme/nvme-spec/pci'
import type { DriveProfile } from '../profiles/profile.js'
import { ConfigBytes } from './config-bytes.js'

/** Offsets of the capabilities in configuration space. */
export const PM = 0x40
export const MSI_X = 0x50
export const PX = 0x60
export const AER = 0x100

/** Location of the MSI-X Table and the Pending Bit Array in BAR0, and the length of BAR0. */
export interface BarPlan {
  readonly tableOffset: number
  readonly pendingOffset: number
  readonly lengthBytes: number
  readonly vectors: number
}

/** Link reported by a drive without a link model: the fastest. */
const FASTEST = { gen: 5, width: 16, mps: 512, maxReadRequestBytes: 4096, propagationNs: 0 } as const

/** Configuration space after a reset: everything is disabled, and BAR0 has no address. */
export function configurationSpace({ link = FASTEST, identify }: DriveProfile, bar: BarPlan): ConfigBytes {
  const { gen, width, mps } = link
  const [initial, writable, clearable] = [0, 0, 0].map(() => new DataView(new ArrayBuffer(PCIE_CONFIG_BYTES)))
  PciHeader.encode(initial!, 0, {
    VID: identify.VID ?? 0,
    // An arbitrary Device ID; 0, together with a vendor of 0, would read as an empty slot.
    DID: 0x0108,
    STS: { CL: 1 },
    PI: NVME_CLASS_CODE & 0xff,
    SCC: (NVME_CLASS_CODE >>> 8) & 0xff,
    BCC: NVME_CLASS_CODE >>> 16,
    SSVID: identify.SSVID ?? 0,
    // BAR0 is a 64-bit BAR.
    BAR: [{ TP: 2 }, {}, {}, {}, {}, {}],
    CAP: PM,
    IPIN: 1,
  })
  PciHeader.encode(writable!, 0, {
    CMD: { MSE: 1, BME: 1, PEE: 1, SEE: 1, ID: 1 },
    CLS: 0xff,
    BAR: Uint32Array.of(-bar.lengthBytes >>> 0, 0xffff_ffff, 0, 0, 0, 0),
    ILINE: 0xff,
  })

  // No Soft Reset is 1: a function keeps its state across D3hot (PCIe 1.2 Figure 33).
  PowerManagementCapability.encode(initial!, PM, {
    CID: PCI_CAPABILITY.POWER_MANAGEMENT,
    NEXT: MSI_X,
    PC: { VS: 3 },
    PMCS: { NSFRST: 1 },
  })
  PowerManagementCapability.encode(writable!, PM, { PMCS: { PS: 3 } })

  MsixCapability.encode(initial!, MSI_X, {
    CID: PCI_CAPABILITY.MSI_X,
    NEXT: PX,
    MXC: { TS: zeroBased(bar.vectors) },
    MTAB: { TBIR: 0, TO: bar.tableOffset / 8 },
    MPBA: { PBIR: 0, PBAO: bar.pendingOffset / 8 },
  })
  MsixCapability.encode(writable!, MSI_X, { MXC: { FM: 1, MXE: 1 } })

  PciExpressCapability.encode(initial!, PX, {
    CID: PCI_CAPABILITY.PCI_EXPRESS,
    PXCAP: { VER: 2, DPT: PciExpressCapability.PXCAP.DPT.ENDPOINT },
    PXDCAP: { MPS: sizeCode(mps), RER: 1, FLRC: 1 },
    // 512 bytes of Max_Read_Request_Size, as after every reset.
    PXDC: { ERO: 1, MRRS: 2 },
    PXLCAP: { SLS: gen, MLW: width },
    PXLS: { CLS: gen, NLW: width },
    PXLCAP2: speedsUpTo(gen),
    PXLC2: { TLS: gen },
  })
  PciExpressCapability.encode(writable!, PX, {
    PXDC: { CERE: 1, NFERE: 1, FERE: 1, URRE: 1, ERO: 1, MPS: 7, ETE: 1, ENS: 1, MRRS: 7 },
    PXLC: { ASPMC: 3, RCB: 1, CCC: 1, ES: 1 },
    PXDC2: { CTV: 15, CTD: 1 },
  })
  PciExpressCapability.encode(clearable!, PX, { PXDS: { CED: 1, NFED: 1, FED: 1, URD: 1 } })

  AdvancedErrorReporting.encode(initial!, AER, {
    AERID: { CID: PCI_EXTENDED_CAPABILITY.ADVANCED_ERROR_REPORTING, CVER: 2 },
  })
  // All errors with a bit here can be masked, made fatal, and cleared.
  const { AERUCES, AERCES } = AdvancedErrorReporting.fields
  for (const [offset, rows] of [
    [0x04, AERUCES.rows],
    [0x10, AERCES.rows],
  ] as const) {
    const bits = Object.values(rows).reduce((all, { lsb }) => all | (1 << lsb), 0)
    clearable!.setUint32(AER + offset, bits, true)
    writable!.setUint32(AER + offset + 4, bits, true)
    if (rows === AERUCES.rows) writable!.setUint32(AER + offset + 8, bits, true)
  }

  const bytes = [initial, writable, clearable].map((view) => new Uint8Array(view!.buffer))
  return new ConfigBytes(bytes[0]!, bytes[1]!, bytes[2]!)
}

/** Device Control as left by firmware: the sizes of the modelled link. */
export function deviceControl({ link = FASTEST }: DriveProfile): { readonly MPS: number; readonly MRRS: number } {
  return { MPS: sizeCode(link.mps), MRRS: sizeCode(link.maxReadRequestBytes) }
}

/** Encodes a size for PXDC and PXDCAP: 128 * 2 ^ n bytes. */
function sizeCode(bytes: number): number {
  return Math.log2(bytes / 128)
}

/** Supported Link Speeds of PXLCAP2: one bit per generation, from bit 1. */
function speedsUpTo(gen: number): number {
  return (1 << (gen + 1)) - 2
}
