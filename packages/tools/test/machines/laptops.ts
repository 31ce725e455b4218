import type { Described } from './described.js'
import { cpus, distributions, gpus, openDriver, others, ports, rootOn, ssds } from './parts/index.js'

const laptop = (vendor: string, name: string, bios: string) => ({ vendor, name, bios, chassis: 10 })

export const laptops: readonly Described[] = [
  {
    name: 'laptop-optimus-d3cold',
    point: 'Optimus: the GPU is in D3cold (RTD3) and is not woken to be looked at',
    board: laptop('Dell Inc.', 'XPS 15 9520', '1.30.0'),
    cpu: cpus.i7_1165g7,
    memoryGib: 32,
    kernel: '6.16.9-200.fc42.x86_64',
    distribution: distributions.fedora42,
    efi: { secureBoot: true },
    lockdown: 'integrity',
    iommu: 'translated',
    pci: {
      '0000:00': [
        ports.tigerRoot('00:00.0'),
        others.tigerGpu('00:02.0'),
        ports.tigerX4('00:06.0', {
          max: { gen: 4, lanes: 8 },
          now: 'down',
          power: { state: 'D3cold', runtime: 'suspended' },
          behind: [
            gpus.rtx3050m('01:00.0', 4096, {
              now: 'down',
              power: { state: 'D3cold', control: 'auto', runtime: 'suspended' },
            }),
          ],
        }),
        ports.tigerPch('00:1d.0', {
          behind: [ssds.sn740('02:00.0', 'nvme0', { partitions: 3, now: { gen: 3, lanes: 4 }, drive: { hmb: true } })],
        }),
      ],
    },
    nvidia: openDriver('580.95.05'),
    mounts: rootOn('nvme0n1'),
    swaps: ['nvme0n1p3'],
  },
  {
    name: 'laptop-two-drives',
    point: 'a second, empty drive that sleeps in D3hot; no driver has it',
    board: laptop('LENOVO', '82WM Legion Pro 5 16ARX8', 'LPCN54WW'),
    cpu: cpus.ryzen7950x,
    memoryGib: 32,
    kernel: '6.17.5-arch1-1',
    distribution: distributions.arch,
    iommu: 'translated',
    pci: {
      '0000:00': [
        ports.raphaelRoot('00:00.0'),
        ports.raphael('00:01.1', {
          max: { gen: 4, lanes: 8 },
          behind: [gpus.rtx4060m('01:00.0', 8192, { now: { gen: 4, lanes: 8 } })],
        }),
        ports.raphael('00:02.2', {
          max: { gen: 4, lanes: 4 },
          behind: [ssds.s990pro('02:00.0', 'nvme0', { partitions: 2 })],
        }),
        ports.raphael('00:02.3', {
          max: { gen: 4, lanes: 4 },
          behind: [
            ssds.sn740('03:00.0', 'nvme1', {
              driver: undefined,
              power: { state: 'D3hot', control: 'auto', runtime: 'suspended' },
            }),
          ],
        }),
      ],
    },
    nvidia: openDriver('580.95.05'),
    mounts: rootOn('nvme0n1'),
  },
  {
    name: 'laptop-no-nvidia',
    point: 'a thin laptop: graphics of the processor, one drive that is the system',
    board: laptop('Framework', 'Laptop 13', '03.20'),
    cpu: cpus.i7_1165g7,
    memoryGib: 16,
    kernel: '6.14.0-33-generic',
    distribution: distributions.ubuntu2404,
    efi: { secureBoot: true },
    lockdown: 'integrity',
    iommu: 'translated',
    pci: {
      '0000:00': [
        ports.tigerRoot('00:00.0'),
        others.tigerGpu('00:02.0'),
        ports.tigerX4('00:06.0', { behind: [ssds.sn850x('01:00.0', 'nvme0', { partitions: 2 })] }),
      ],
    },
    mounts: rootOn('nvme0n1'),
  },
]
