import {
  AccessControlServices,
  AdvancedErrorReporting,
  PCI_CAPABILITY,
  PCI_EXTENDED_CAPABILITY,
  PCIE_CONFIG_BYTES,
  PciExpressCapability,
  PciExtendedCapability,
  PciHeader,
  PowerManagementCapability,
  ResizableBarEntry,
  DownstreamPortContainment,
} from '@gpunvme/nvme-spec/pci'
import type { DescribedBar, DescribedFunction } from './described.js'

const PORT_TYPES = { endpoint: 0, 'root-port': 4, upstream: 5, downstream: 6, integrated: 9 } as const

const PM = 0x60
const EXPRESS = 0x78

/** Numbers of the buses of a bridge. */
export interface Buses {
  readonly primary: number
  readonly secondary: number
  readonly subordinate: number
}

/** A BAR with its address. */
export interface PlacedBar extends DescribedBar {
  readonly address: number
}

/** Returns the configuration space that root reads: 4096 bytes, or 256 of a conventional function. */
export function configBytes(
  found: DescribedFunction,
  bars: readonly PlacedBar[],
  buses: Buses | undefined,
): Uint8Array {
  const bytes = new Uint8Array(found.type === 'conventional' ? 256 : PCIE_CONFIG_BYTES)
  if (found.isGone) return bytes.fill(0xff)
  const config = new DataView(bytes.buffer)
  writeHeader(config, found, bars)
  if (buses !== undefined) writeBridge(config, buses)
  writePower(config, found)
  if (found.type !== 'conventional') {
    writeExpress(config, found, found.type)
    writeExtended(config, found)
  }
  return bytes
}

function writeHeader(config: DataView, found: DescribedFunction, bars: readonly PlacedBar[]): void {
  const { vendor, device, classCode } = found
  const registers = new Uint32Array(6)
  for (const { bar, address, is64Bit = false, isPrefetchable = false } of bars) {
    registers[bar] = (address % 2 ** 32) + (is64Bit ? 4 : 0) + (isPrefetchable ? 8 : 0)
    if (is64Bit) registers[bar + 1] = Math.floor(address / 2 ** 32)
  }
  PciHeader.encode(config, 0, {
    VID: vendor,
    DID: device,
    CMD: { MSE: 1, BME: found.driver === undefined ? 0 : 1 },
    STS: { CL: 1 },
    RID: 0xa1,
    PI: classCode & 0xff,
    SCC: (classCode >>> 8) & 0xff,
    BCC: classCode >>> 16,
    CAP: PM,
    BAR: registers,
    // The second half of the header of a bridge has another layout.
    ...(classCode >>> 8 === 0x0604 ? {} : { SSVID: vendor, SSID: device }),
  })
}

/** linux/pci_regs.h: PCI_PRIMARY_BUS 18h, PCI_SECONDARY_BUS 19h, PCI_SUBORDINATE_BUS 1Ah; header type 1. */
function writeBridge(config: DataView, { primary, secondary, subordinate }: Buses): void {
  config.setUint8(PciHeader.HTYPE.offset, 1)
  config.setUint8(0x18, primary)
  config.setUint8(0x19, secondary)
  config.setUint8(0x1a, subordinate)
}

function writePower(config: DataView, { type, power }: DescribedFunction): void {
  PowerManagementCapability.encode(config, PM, {
    CID: PCI_CAPABILITY.POWER_MANAGEMENT,
    NEXT: type === 'conventional' ? 0 : EXPRESS,
    PC: { VS: 3 },
    PMCS: { PS: power?.state === 'D3hot' ? 3 : 0, NSFRST: 1 },
  })
}

function writeExpress(config: DataView, found: DescribedFunction, type: keyof typeof PORT_TYPES): void {
  const { max, payloadBytes = { supported: 256, set: 256 }, readRequestBytes = 512, aspm = [] } = found
  const now = found.now ?? max
  const shape = now === 'down' || now === undefined ? undefined : now
  const isPort = type === 'root-port' || type === 'downstream'
  const code = (bytes: number) => Math.log2(bytes / 128)
  PciExpressCapability.encode(config, EXPRESS, {
    CID: PCI_CAPABILITY.PCI_EXPRESS,
    PXCAP: { VER: 2, DPT: PORT_TYPES[type], SI: isPort ? 1 : 0 },
    PXDCAP: { MPS: code(payloadBytes.supported), RER: 1, FLRC: found.hasReset ? 1 : 0 },
    PXDC: { MPS: code(payloadBytes.set), MRRS: code(readRequestBytes) },
    ...(max === undefined
      ? {}
      : {
          PXLCAP: { SLS: max.gen, MLW: max.lanes, ASPMS: 2, DLLA: isPort ? 1 : 0 },
          PXLC: { ASPMC: (aspm.includes('L0s') ? 1 : 0) + (aspm.includes('L1') ? 2 : 0), CCC: 1 },
          PXLS: shape === undefined ? { SCC: 1 } : { CLS: shape.gen, NLW: shape.lanes, SCC: 1, DLLLA: isPort ? 1 : 0 },
          PXLC2: { TLS: max.gen },
        }),
  })
}

const ACS_BITS = ['SV', 'TB', 'RR', 'CR', 'UF'] as const

/** Writes the linked list of extended capabilities from 100h. */
function writeExtended(config: DataView, found: DescribedFunction): void {
  const { ADVANCED_ERROR_REPORTING, ACCESS_CONTROL_SERVICES, RESIZABLE_BAR, DOWNSTREAM_PORT_CONTAINMENT } =
    PCI_EXTENDED_CAPABILITY
  const parts: [id: number, bytes: number, write: (offset: number) => void][] = [
    [ADVANCED_ERROR_REPORTING, 0x48, (offset) => writeErrors(config, offset, found)],
  ]
  const { acs, resizable, containment } = found
  if (acs !== undefined) parts.push([ACCESS_CONTROL_SERVICES, 8, (offset) => writeAcs(config, offset, acs)])
  if (resizable !== undefined)
    parts.push([RESIZABLE_BAR, 12, (offset) => writeResizable(config, offset, resizable, found.bars ?? [])])
  if (containment !== undefined)
    parts.push([DOWNSTREAM_PORT_CONTAINMENT, 12, (offset) => writeContainment(config, offset, containment)])
  let offset = 0x100
  for (const [index, [id, lengthBytes, write]] of parts.entries()) {
    const next = Math.ceil((offset + lengthBytes) / 0x20) * 0x20
    write(offset)
    PciExtendedCapability.encode(config, offset, {
      HEADER: { CID: id, CVER: 1, NEXT: index === parts.length - 1 ? 0 : next },
    })
    offset = next
  }
}

function writeErrors(config: DataView, offset: number, { errors = {} }: DescribedFunction): void {
  AdvancedErrorReporting.encode(config, offset, {
    AERUCES: errors.uncorrectable ?? 0,
    AERCES: errors.correctable ?? 0,
  })
}

function writeAcs(config: DataView, offset: number, on: readonly string[]): void {
  const set = Object.fromEntries(ACS_BITS.map((name) => [name, on.includes(name) ? 1 : 0])) as Record<string, 0 | 1>
  AccessControlServices.encode(config, offset, { ACSCAP: { SV: 1, TB: 1, RR: 1, CR: 1, UF: 1 }, ACSCTL: set })
}

function writeResizable(
  config: DataView,
  offset: number,
  { bar, sizesMib }: NonNullable<DescribedFunction['resizable']>,
  bars: readonly DescribedBar[],
): void {
  const size = bars.find((candidate) => candidate.bar === bar)?.mib ?? 1
  ResizableBarEntry.encode(config, offset + 4, {
    REBARCAP: { SIZES: sizesMib.reduce((bits, mib) => bits + mib, 0) },
    REBARCTL: { BAR_IDX: bar, NBAR: 1, BAR_SIZE: Math.log2(size) },
  })
}

function writeContainment(config: DataView, offset: number, isEnabled: boolean): void {
  DownstreamPortContainment.encode(config, offset, { DPCCTL: { EN_FATAL: isEnabled ? 1 : 0 } })
}
