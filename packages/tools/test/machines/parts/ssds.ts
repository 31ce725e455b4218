import type { DescribedDrive, DescribedFunction, Shape } from '../described.js'
import { CLASS, gen, INTEL, RED_HAT, type Options } from './part.js'

interface SsdKind {
  readonly vendor: number
  readonly vendorName: string
  readonly device: number
  readonly deviceName: string
  readonly model: string
  readonly firmware: string
  readonly max: Shape
  readonly gib: number
  readonly transferKib?: number
}

export type SsdOptions = Options & {
  readonly drive?: Partial<DescribedDrive>
  readonly partitions?: number
  readonly blockBytes?: number
}

/** With Linux's driver, the drive is named `name`. With another driver or none, it is only a PCI function. */
function ssd(kind: SsdKind) {
  return (address: string, name: string, options: SsdOptions = {}): DescribedFunction => {
    const { drive = {}, partitions = 0, blockBytes = 512, ...rest } = options
    const { model, firmware, gib, transferKib = 512, ...ids } = kind
    const hasDriver = !('driver' in rest) || rest.driver === 'nvme'
    const namespaces = [{ gib, transferKib, partitions, blockBytes }]
    const serial = `S${(kind.device * 7919 + Number(name.slice(4)) * 104_729).toString(36).toUpperCase().padStart(9, '0')}`
    const nvme = { name, model, serial, firmware, celsius: 41, namespaces, ...drive }
    const fixed = { classCode: CLASS.nvme, type: 'endpoint' as const, bars: [{ bar: 0, mib: 1, is64Bit: true }] }
    return {
      address,
      ...ids,
      ...fixed,
      driver: 'nvme',
      aspm: ['L1'],
      hasReset: true,
      ...rest,
      ...(hasDriver ? { nvme } : {}),
    }
  }
}

const WD = { vendor: 0x15b7, vendorName: 'Sandisk Corp' }
const SAMSUNG = { vendor: 0x144d, vendorName: 'Samsung Electronics Co Ltd' }

export const ssds = {
  sn530: ssd({
    ...WD,
    device: 0x5008,
    deviceName: 'WD PC SN530 NVMe SSD',
    model: 'WDC PC SN530 SDBPNPZ-512G-1014',
    firmware: '21160001',
    max: gen(3, 4),
    gib: 476,
  }),
  sn740: ssd({
    ...WD,
    device: 0x5015,
    deviceName: 'WD PC SN740 NVMe SSD',
    model: 'WD PC SN740 SDDPNQD-512G',
    firmware: '73110000',
    max: gen(4, 4),
    gib: 476,
  }),
  sn850x: ssd({
    ...WD,
    device: 0x5030,
    deviceName: 'Western Digital WD Black SN850X NVMe SSD',
    model: 'WD_BLACK SN850X 2000GB',
    firmware: '624311WD',
    max: gen(4, 4),
    gib: 1863,
  }),
  s970: ssd({
    ...SAMSUNG,
    device: 0xa808,
    deviceName: 'NVMe SSD Controller SM981/PM981/PM983',
    model: 'Samsung SSD 970 EVO Plus 1TB',
    firmware: '2B2QEXM7',
    max: gen(3, 4),
    gib: 931,
  }),
  s980pro: ssd({
    ...SAMSUNG,
    device: 0xa80a,
    deviceName: 'NVMe SSD Controller PM9A1/PM9A3/980PRO',
    model: 'Samsung SSD 980 PRO 1TB',
    firmware: '5B2QGXA7',
    max: gen(4, 4),
    gib: 931,
    transferKib: 128,
  }),
  s990pro: ssd({
    ...SAMSUNG,
    device: 0xa80c,
    deviceName: 'NVMe SSD Controller S4LV008[Pascal]',
    model: 'Samsung SSD 990 PRO 2TB',
    firmware: '4B2QJXD7',
    max: gen(4, 4),
    gib: 1863,
    transferKib: 1024,
  }),
  pm1733: ssd({
    ...SAMSUNG,
    device: 0xa824,
    deviceName: 'NVMe SSD Controller PM173X',
    model: 'SAMSUNG MZWLR3T8HBLS-00007',
    firmware: 'MPK9MB5Q',
    max: gen(4, 4),
    gib: 3576,
    transferKib: 1024,
  }),
  t700: ssd({
    vendor: 0xc0a9,
    vendorName: 'Micron/Crucial Technology',
    device: 0x5419,
    deviceName: 'T700 NVMe PCIe SSD',
    model: 'CT2000T700SSD3',
    firmware: 'PACR5102',
    max: gen(5, 4),
    gib: 1863,
    transferKib: 1024,
  }),
  p31: ssd({
    vendor: 0x1c5c,
    vendorName: 'SK hynix',
    device: 0x174a,
    deviceName: 'Gold P31/PC711 NVMe Solid State Drive',
    model: 'SHGP31-1000GM',
    firmware: '31060C20',
    max: gen(3, 4),
    gib: 931,
  }),
  p4510: ssd({
    ...INTEL,
    device: 0x0a54,
    deviceName: 'NVMe Datacenter SSD [3DNAND, Beta Rock Controller]',
    model: 'INTEL SSDPE2KX040T8',
    firmware: 'VDV10184',
    max: gen(3, 4),
    gib: 3726,
    transferKib: 128,
  }),
  cd8: ssd({
    vendor: 0x1e0f,
    vendorName: 'KIOXIA Corporation',
    device: 0x001f,
    deviceName: 'NVMe SSD Controller CD8',
    model: 'KIOXIA KCD8XRUG3T84',
    firmware: '1UET7104',
    max: gen(5, 4),
    gib: 3576,
    transferKib: 1024,
  }),
  ebs: ssd({
    vendor: 0x1d0f,
    vendorName: 'Amazon.com, Inc.',
    device: 0x8061,
    deviceName: 'NVMe EBS Controller',
    model: 'Amazon Elastic Block Store',
    firmware: '2.0',
    max: gen(1, 1),
    gib: 200,
    transferKib: 256,
  }),
  instance: ssd({
    vendor: 0x1d0f,
    vendorName: 'Amazon.com, Inc.',
    device: 0xcd01,
    deviceName: 'NVMe SSD Controller',
    model: 'Amazon EC2 NVMe Instance Storage',
    firmware: '0',
    max: gen(3, 4),
    gib: 558,
    transferKib: 128,
  }),
  googlePd: ssd({
    vendor: 0x1ae0,
    vendorName: 'Google, Inc.',
    device: 0x001f,
    deviceName: 'NVMe device',
    model: 'nvme_card-pd',
    firmware: '2',
    max: gen(1, 1),
    gib: 100,
    transferKib: 256,
  }),
  qemu: ssd({
    ...RED_HAT,
    device: 0x0010,
    deviceName: 'QEMU NVM Express Controller',
    model: 'QEMU NVMe Ctrl',
    firmware: '7.2.0',
    max: gen(1, 1),
    gib: 16,
  }),
}
