import { bit, bits, inHex, struct, u16, u32, u32Array, u8 } from '../layout/index.js'

/** Class code of an NVMe I/O controller: BCC 01h (storage), SCC 08h (non-volatile memory), PI 02h (NVMe). */
export const NVME_CLASS_CODE = 0x01_08_02

/**
 * The first 64 bytes of configuration space of a function other than a bridge (PCIe 1.2 §3.8.1, Figure 10). The rows of
 * the Base Address Registers are those of memory space; `baseAddresses` also reads those of I/O space.
 */
export const PciHeader = struct(
  'PCI header',
  { bytes: 64, doc: 'PCI Express Type 0 configuration space header', spec: 'PCIe 1.2 §3.8.1' },
  {
    VID: inHex(u16(0x00, 'Vendor ID')),
    DID: inHex(u16(0x02, 'Device ID')),
    CMD: u16(0x04, 'Command', {
      IOSE: bit(0, 'I/O Space Enable'),
      MSE: bit(1, 'Memory Space Enable'),
      BME: bit(2, 'Bus Master Enable'),
      SCE: bit(3, 'Special Cycle Enable'),
      MWIE: bit(4, 'Memory Write and Invalidate Enable'),
      VGA: bit(5, 'VGA Palette Snooping Enable'),
      PEE: bit(6, 'Parity Error Response Enable'),
      ISWCC: bit(7, 'IDSEL Stepping/Wait Cycle Control'),
      SEE: bit(8, 'SERR# Enable'),
      FBE: bit(9, 'Fast Back-to-Back Enable'),
      ID: bit(10, 'Interrupt Disable'),
    }),
    STS: u16(0x06, 'Device Status', {
      IR: bit(0, 'Immediate Readiness'),
      IS: bit(3, 'Interrupt Status'),
      CL: bit(4, 'Capabilities List'),
      C66: bit(5, '66 MHz Capable'),
      FBC: bit(7, 'Fast Back-to-Back Capable'),
      DPD: bit(8, 'Master Data Parity Error Detected'),
      DEVT: bits(10, 9, 'DEVSEL# Timing'),
      STA: bit(11, 'Signaled Target-Abort'),
      RTA: bit(12, 'Received Target Abort'),
      RMA: bit(13, 'Received Master-Abort'),
      SSE: bit(14, 'Signaled System Error'),
      DPE: bit(15, 'Detected Parity Error'),
    }),
    RID: inHex(u8(0x08, 'Revision ID')),
    PI: inHex(u8(0x09, 'Class Code: Programming Interface')),
    SCC: inHex(u8(0x0a, 'Class Code: Sub Class Code')),
    BCC: inHex(u8(0x0b, 'Class Code: Base Class Code')),
    CLS: u8(0x0c, 'Cache Line Size, in dwords'),
    MLT: u8(0x0d, 'Master Latency Timer'),
    HTYPE: u8(0x0e, 'Header Type', {
      HL: bits(6, 0, 'Header Layout: 0 for this one'),
      MFD: bit(7, 'Multi-Function Device'),
    }),
    BIST: u8(0x0f, 'Built-In Self Test', {
      CC: bits(3, 0, 'Completion Code'),
      SB: bit(6, 'Start BIST'),
      BC: bit(7, 'BIST Capable'),
    }),
    BAR: u32Array(0x10, 6, 'Base Address Registers', {
      RTE: bit(0, 'Resource Type Indicator: I/O space'),
      TP: bits(2, 1, 'Type: 0 for 32 bits, 2 for 64 bits'),
      PF: bit(3, 'Prefetchable'),
      BA: bits(31, 4, 'Base Address: address bits 31:4'),
    }),
    CCPTR: inHex(u32(0x28, 'CardBus CIS Pointer')),
    SSVID: inHex(u16(0x2c, 'Subsystem Vendor ID')),
    SSID: inHex(u16(0x2e, 'Subsystem ID')),
    EROM: inHex(u32(0x30, 'Expansion ROM Base Address')),
    CAP: inHex(u8(0x34, 'Capabilities Pointer')),
    ILINE: u8(0x3c, 'Interrupt Line'),
    IPIN: u8(0x3d, 'Interrupt Pin'),
    MGNT: u8(0x3e, 'Minimum Grant'),
    MLAT: u8(0x3f, 'Maximum Latency'),
  },
)

/** One range of addresses that a function decodes. */
export interface BaseAddress {
  /** Index of its first register, as in BIR fields: 0 to 5. */
  readonly bar: number
  readonly space: 'memory' | 'io'
  readonly widthBits: 32 | 64
  readonly prefetchable: boolean
  /** Bus address of the first byte. */
  readonly address: bigint
}

/**
 * Returns the Base Address Registers of a header, 64-bit ones once. A register that reads 0 is omitted: it is not
 * implemented, or has no address yet.
 * @throws RangeError if `config` ends before the header does.
 */
export function baseAddresses(config: DataView, byteOffset = 0): BaseAddress[] {
  const { BAR } = PciHeader.view(config, byteOffset)
  const found: BaseAddress[] = []
  for (let bar = 0; bar < BAR.length; bar++) {
    const low = BAR[bar]!
    if (low === 0) continue
    if ((low & 1) === 1) {
      found.push({ bar, space: 'io', widthBits: 32, prefetchable: false, address: BigInt((low & ~3) >>> 0) })
      continue
    }
    const wide = ((low >>> 1) & 3) === 2
    const high = wide ? BigInt(BAR[bar + 1] ?? 0) << 32n : 0n
    const address = high | BigInt((low & ~0xf) >>> 0)
    found.push({ bar, space: 'memory', widthBits: wide ? 64 : 32, prefetchable: (low & 8) !== 0, address })
    if (wide) bar++
  }
  return found
}
