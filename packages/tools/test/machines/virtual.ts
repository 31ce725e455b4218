import type { Described } from './described.js'
import { cpus, distributions, gpus, openDriver, others, ports, proprietaryDriver, ssds } from './parts/index.js'

const guest = (vendor: string, name: string) => ({ vendor, name, chassis: 1 })
const rootOn = (name: string) => [{ source: `${name}p1`, where: '/', type: 'ext4' }]

export const virtual: readonly Described[] = [
  {
    name: 'vm-q35-passthrough',
    point: 'QEMU q35 with a GPU and a drive handed through: the topology is the guest one, not that of the board',
    board: guest('QEMU', 'Standard PC (Q35 + ICH9, 2009)'),
    cpu: cpus.virtualRyzen,
    memoryGib: 32,
    kernel: '6.12.43+deb13-amd64',
    distribution: distributions.debian13,
    pci: {
      '0000:00': [
        ports.q35Root('00:00.0'),
        others.qemuVga('00:01.0'),
        ports.qemuPort('00:02.0', { behind: [others.virtioNet('01:00.0')] }),
        ports.qemuPort('00:02.1', { behind: [gpus.rtx3090('02:00.0', 256)] }),
        ports.qemuPort('00:02.2', { behind: [ssds.sn740('03:00.0', 'nvme0')] }),
      ],
    },
    disks: [{ name: 'vda', gib: 64, model: '' }],
    nvidia: openDriver('570.211.01'),
    mounts: [{ source: 'vda', where: '/', type: 'ext4' }],
  },
  {
    name: 'vm-qemu-nvme-only',
    point: 'the guest that this project tests itself in: an emulated drive, an emulated IOMMU, no GPU',
    board: guest('QEMU', 'Standard PC (Q35 + ICH9, 2009)'),
    cpu: cpus.virtualXeon,
    memoryGib: 4,
    kernel: '6.1.0-40-amd64',
    distribution: distributions.debian12,
    iommu: 'translated',
    commandLine: 'console=ttyS0 intel_iommu=on',
    pci: {
      '0000:00': [
        ports.q35Root('00:00.0'),
        ports.qemuPort('00:03.0', {
          max: { gen: 1, lanes: 1 },
          behind: [ssds.qemu('01:00.0', 'nvme0', { driver: undefined })],
        }),
      ],
    },
  },
  {
    name: 'cloud-a10',
    point: 'a cloud instance with an A10: the drive is a network volume behind an NVMe face, no IOMMU in the guest',
    board: guest('Amazon EC2', 'g5.4xlarge'),
    cpu: cpus.virtualEpyc,
    memoryGib: 64,
    kernel: '6.14.0-1014-aws',
    distribution: distributions.ubuntu2404,
    pci: {
      '0000:00': [
        ssds.ebs('00:04.0', 'nvme0', { type: 'endpoint', partitions: 1 }),
        gpus.a10('00:1e.0', 32_768, { max: undefined }),
        ssds.instance('00:1f.0', 'nvme1', { max: undefined }),
      ],
    },
    nvidia: proprietaryDriver('550.163.01'),
    mounts: rootOn('nvme0n1'),
  },
  {
    name: 'cloud-h100',
    point: 'a cloud instance with an H100, on a bus that the hypervisor made up; Secure Boot',
    board: guest('Google', 'Google Compute Engine'),
    cpu: cpus.virtualXeon,
    memoryGib: 234,
    kernel: '6.14.0-1017-gcp',
    distribution: distributions.ubuntu2404,
    efi: { secureBoot: true },
    lockdown: 'integrity',
    pci: {
      '0000:00': [
        ssds.googlePd('00:05.0', 'nvme0', { partitions: 1, max: undefined }),
        gpus.h100('00:06.0', { max: undefined }),
      ],
    },
    nvidia: openDriver('570.211.01'),
    mounts: rootOn('nvme0n1'),
  },
  {
    name: 'vm-firecracker-h100',
    point:
      'a small guest with an H100 and no NVMe drive, as doctor --save brought it; no file has the module that runs',
    board: guest('', ''),
    cpu: { ...cpus.virtualXeon, model: 'Intel(R) Xeon(R) Processor', threads: 16 },
    memoryGib: 126,
    kernel: '6.18.44',
    distribution: distributions.ubuntu2404,
    hasNames: false,
    pci: {
      '0000:00': [
        others.virtioDisk('00:01.0'),
        others.virtioDisk('00:02.0'),
        others.virtioNet('00:03.0', { type: 'conventional', max: undefined }),
        gpus.h100Sxm('00:06.0'),
      ],
    },
    disks: [
      { name: 'vda', gib: 256, model: '' },
      { name: 'vdb', gib: 1, model: '' },
    ],
    nvidia: { running: { version: '580.159.04', flavour: 'open' }, libcuda: '580.159.04' },
    mounts: [{ source: 'vda', where: '/', type: 'ext4' }],
  },
  {
    name: 'wsl2',
    point: 'WSL 2: the GPU is reached through Windows, and there is no drive to have',
    board: guest('Microsoft Corporation', 'Virtual Machine'),
    cpu: { ...cpus.virtualRyzen, model: 'AMD Ryzen 7 5800X 8-Core Processor' },
    memoryGib: 16,
    kernel: '6.6.87.2-microsoft-standard-WSL2',
    distribution: distributions.ubuntu2404,
    hidesConfig: true,
    pci: { '5582:00': [others.wslDisplay('5582:00:00.0')] },
    disks: [{ name: 'sda', gib: 1024, model: 'Virtual Disk' }],
    mounts: [{ source: 'sda', where: '/', type: 'ext4' }],
  },
  {
    name: 'container',
    point: 'a container on a GPU host: /sys is read-only, no names of parts, the configuration of the kernel not there',
    board: { vendor: 'Supermicro', name: 'X12DPG-OA6', chassis: 23 },
    cpu: cpus.xeon6248,
    memoryGib: 512,
    kernel: '5.15.0-157-generic',
    distribution: distributions.ubuntu2204,
    hidesConfig: true,
    hasNames: false,
    isRoot: false,
    isContainer: true,
    iommu: 'passthrough',
    pci: {
      '0000:17': [
        ports.skylakeE('17:00.0', { node: 0, behind: [gpus.a100('18:00.0', 131_072, { node: 0 })] }),
        ports.skylakeE('17:02.0', {
          node: 0,
          max: { gen: 3, lanes: 4 },
          behind: [ssds.p4510('19:00.0', 'nvme0', { node: 0 })],
        }),
      ],
    },
    nvidia: { running: { version: '535.230.02', flavour: 'proprietary' }, libcuda: '535.230.02' },
    mounts: [{ source: 'overlay', where: '/', type: 'overlay' }],
    nodes: ['nvidia0', 'nvidiactl', 'nvidia-uvm'],
  },
  {
    name: 'empty',
    point: 'a machine without PCI at all',
    board: guest('', ''),
    cpu: cpus.virtualEpyc,
    memoryGib: 1,
    kernel: '6.12.43+deb13-cloud-amd64',
    distribution: distributions.debian13,
    pci: {},
  },
]
