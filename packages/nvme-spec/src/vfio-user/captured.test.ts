import { expect, it } from 'vitest'
import {
  VFIO_USER,
  VfioIrqInfo,
  VfioRegionInfo,
  VfioUserDeviceInfo,
  VfioUserDmaMap,
  VfioUserHeader,
  VfioUserRegionAccess,
} from './messages.js'
import { decodeVersion } from './version.js'
import { fromHex, toHex } from '../../test/bytes.js'

/*
 * Messages of QEMU 11.1.3 (Debian 1:11.1.3, q35 with 64 MiB of memory and one vfio-user-pci), recorded on 2026-11-22 by
 * a server that offers a BAR0 of 16 KiB and four MSI-X vectors.
 */

it('QEMU sends its version and capabilities first', () => {
  const header = fromHex('00 00 01 00 d6 00 00 00 00 00 00 00 00 00 00 00')
  const text =
    '\0\0\0\0{"capabilities": {"pgsizes": 4096, "max_msg_fds": 16, "max_dma_maps": 65535, ' +
    '"max_data_xfer_size": 1048576, "migration": {"max_bitmap_size": 268435456, "pgsize": 4096}, ' +
    '"write_multiple": true}}\0'
  const command = { TYPE: VfioUserHeader.FLAGS.TYPE.COMMAND, NO_REPLY: 0, ERROR: 0 }
  expect(VfioUserHeader.decode(header)).toEqual({
    ID: 0,
    COMMAND: VFIO_USER.VERSION,
    SIZE: VfioUserHeader.bytes + text.length,
    FLAGS: command,
    ERROR: 0,
  })
  expect(decodeVersion(Buffer.from(text, 'latin1'))).toEqual({
    major: 0,
    minor: 0,
    capabilities: { maxMsgFds: 16, maxDataXferSize: 1_048_576, maxDmaMaps: 65_535, pgsizes: 4096, writeMultiple: true },
  })
})

const MEMORY = { READ: 1, WRITE: 1 } as const

it.each([
  [
    'DMA_MAP with a descriptor: all memory',
    VfioUserDmaMap,
    '20 00 00 00 03 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 04 00 00 00 00',
    { ARGSZ: 32, FLAGS: MEMORY, OFFSET: 0n, ADDRESS: 0n, SIZE: 0x400_0000n },
  ],
  [
    'DMA_MAP without a descriptor: the firmware, read-only',
    VfioUserDmaMap,
    '20 00 00 00 01 00 00 00 00 00 00 00 00 00 00 00 00 00 fc ff 00 00 00 00 00 00 04 00 00 00 00 00',
    { ARGSZ: 32, FLAGS: { READ: 1, WRITE: 0 }, OFFSET: 0n, ADDRESS: 0xfffc_0000n, SIZE: 0x4_0000n },
  ],
  [
    'DEVICE_GET_INFO',
    VfioUserDeviceInfo,
    '10 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00',
    { ARGSZ: 16, FLAGS: { RESET: 0, PCI: 0 }, NUM_REGIONS: 0, NUM_IRQS: 0 },
  ],
  [
    'DEVICE_GET_REGION_INFO of configuration space',
    VfioRegionInfo,
    '20 00 00 00 00 00 00 00 07 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00',
    {
      ARGSZ: 32,
      FLAGS: { READ: 0, WRITE: 0, MMAP: 0, CAPS: 0 },
      INDEX: 7,
      CAP_OFFSET: 0,
      SIZE: 0n,
      OFFSET: 0n,
    },
  ],
  [
    'DEVICE_GET_IRQ_INFO of the error interrupt, which this device lacks',
    VfioIrqInfo,
    '10 00 00 00 00 00 00 00 03 00 00 00 00 00 00 00',
    { ARGSZ: 16, FLAGS: { EVENTFD: 0, MASKABLE: 0, AUTOMASKED: 0, NORESIZE: 0 }, INDEX: 3, COUNT: 0 },
  ],
  [
    'REGION_READ of configuration space as a whole',
    VfioUserRegionAccess,
    '00 00 00 00 00 00 00 00 07 00 00 00 00 01 00 00',
    { OFFSET: 0n, REGION: 7, COUNT: 256 },
  ],
] as const)('QEMU sends %s', (_, declaration, hex, values) => {
  const data = fromHex(hex)
  expect(data.byteLength).toBe(declaration.bytes)
  expect(declaration.decode(data)).toEqual(values)
  const copy = new DataView(new ArrayBuffer(declaration.bytes))
  declaration.encode(copy, 0, values)
  expect(toHex(copy)).toBe(hex)
})
