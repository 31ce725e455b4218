import { ELSEWHERE } from '../../src/terminal/invocation.js'
import { renderStep } from '../../src/command-line/next-step.js'
import type { Step } from '../../src/doctor/finding.js'
import type { Facts, ProcessFacts } from '../../src/doctor/facts.js'
import { unknown } from '../../src/machine/known.js'
import type { Drive, Gpu, Machine } from '../../src/machine/machine.js'
import type { PciFunction } from '../../src/machine/pci-function.js'
import type { DiskModule, NvidiaDriver, RunningModule } from '../../src/nvidia/index.js'

export const GPU = '0000:0a:00.0'
export const DRIVE = '0000:0b:00.0'
export const PORT = '0000:00:03.1'
const GIB = 1024 ** 3

export function pciFunction(address: string, changes: Partial<PciFunction> = {}): PciFunction {
  const base: PciFunction = {
    address,
    ...{ vendorId: 0x15b7, deviceId: 0x5017, subsystemVendorId: undefined, subsystemId: undefined },
    ...{ classCode: 0x010802, revision: 1, vendorName: undefined, deviceName: undefined },
    ...{ driver: 'nvme', driverOverride: undefined, group: undefined, numaNode: undefined },
    ...{ hostBridge: '0000:00', parent: PORT, kind: 'endpoint', isResponding: true },
    link: { max: { gen: 4, lanes: 4 }, now: { gen: 3, lanes: 4 } },
    packets: { maxPayloadSupportedBytes: 256, maxPayloadBytes: 256, maxReadRequestBytes: 512 },
    aspm: { supported: ['L1'], enabled: [] },
    acs: undefined,
    bars: [],
    resizableBars: [],
    power: { state: 'D0', control: 'on', runtimeStatus: 'active', isD3coldAllowed: true },
    hasFunctionLevelReset: true,
    errors: { correctable: [], uncorrectable: [] },
    ...{ containment: undefined, translation: undefined, canMasterBus: true },
  }
  return { ...base, ...changes }
}

export function drive(changes: Partial<Drive> = {}): Drive {
  const base: Drive = {
    address: DRIVE,
    ...{ name: 'nvme1', model: 'WD SN740', serial: '22350A000123', firmware: '73110000', state: 'live' },
    queues: { count: 17, entries: 1023 },
    namespaces: [
      {
        ...{ name: 'nvme1n1', sizeBytes: 512_110_190_592, blockBytes: 512, maxTransferBytes: 1_048_576 },
        ...{ format: unknown('there is no /run/udev/data/b259:0'), partitions: [] },
      },
    ],
    holders: [],
    temperature: { celsius: 41, warningCelsius: 84, criticalCelsius: 88 },
    hostMemoryBuffer: true,
  }
  return { ...base, ...changes }
}

export function gpu(changes: Partial<Gpu> = {}): Gpu {
  const base: Gpu = {
    ...{ address: GPU, vendor: 'NVIDIA', isIntegrated: false, model: 'NVIDIA GeForce RTX 3090', memoryBytes: 24 * GIB },
    window: { bar: 1, sizeBytes: 32 * GIB, address: 0x70_0000_0000, sizesBytes: [256 * 1024 ** 2, 32 * GIB] },
  }
  return { ...base, ...changes }
}

/** A B450 board with an RTX 3090 and an SN740, IOMMU off, Ubuntu 25.10: the rig of docs/evidence/hardware. */
export const MACHINE: Machine = {
  root: '/',
  kernel: {
    release: '6.17.0-5-generic',
    config: {
      source: '/boot/config-6.17.0-5-generic',
      options: { VFIO_PCI: 'm', VFIO_NOIOMMU: 'y', IO_STRICT_DEVMEM: 'n', PCI_P2PDMA: 'y', DMA_SHARED_BUFFER: 'y' },
    },
    commandLine: 'quiet splash',
    lockdown: 'none',
    aspmPolicy: 'default',
  },
  modules: {
    loaded: [{ name: 'nvidia', references: 2, usedBy: [], taints: 'OE' }],
    onDisk: ['vfio_pci', 'nvme', 'nvidia'],
    builtIn: [],
  },
  distribution: { id: 'ubuntu', version: '25.10', name: 'Ubuntu 25.10', like: ['debian'] },
  board: {
    ...{ vendor: 'ASUSTeK COMPUTER INC.', name: 'ROG STRIX B450-F GAMING II', systemVendor: undefined },
    ...{ systemName: undefined, biosVersion: '4901', biosDate: '07/25/2023', chassis: 'desktop' },
  },
  cpu: {
    vendor: 'AMD',
    model: 'AMD Ryzen 7 5800X 8-Core Processor',
    family: 25,
    modelNumber: 33,
    threads: 16,
    sockets: 1,
  },
  memory: {
    ...{ totalBytes: 48 * GIB, availableBytes: 40 * GIB },
    hugePages: [{ pageBytes: 2_097_152, node: undefined, pages: 0, freePages: 0 }],
    lockLimit: { softBytes: 'unlimited', hardBytes: 'unlimited' },
  },
  firmware: { isEfi: true, secureBoot: false, iommuTable: undefined },
  virtualisation: { hypervisor: undefined, container: undefined, isSysReadOnly: false },
  iommu: { mode: 'off', evidence: ['/sys/kernel/iommu_groups has no groups'], kind: undefined, groups: [] },
  functions: [
    pciFunction(GPU, {
      ...{ vendorId: 0x10de, deviceId: 0x2204, classCode: 0x030000, driver: 'nvidia' },
      link: { max: { gen: 4, lanes: 16 }, now: { gen: 3, lanes: 16 } },
    }),
    pciFunction(DRIVE),
    pciFunction(PORT, {
      ...{ classCode: 0x060400, driver: 'pcieport', parent: undefined, kind: 'root-port' },
      link: { max: { gen: 3, lanes: 16 }, now: { gen: 3, lanes: 16 } },
    }),
  ],
  drives: [drive()],
  gpus: [gpu()],
  otherDisks: [],
  nodes: ['nvidia0', 'nvidiactl'],
}

export const OPEN_MODULE: DiskModule = {
  kernel: '6.17.0-5-generic',
  path: '/lib/modules/6.17.0-5-generic/updates/dkms/nvidia.ko.zst',
  compression: 'zstd',
  contents: {
    ...{ version: '590.48.01', license: 'Dual MIT/GPL', flavour: 'open', srcversion: 'A1' },
    ...{ vermagicRelease: '6.17.0-5-generic', pfnLookup: 'follow_pfnmap_start', mark: undefined, signer: undefined },
  },
}

export const RUNNING: RunningModule = {
  ...{ version: '590.48.01', flavour: 'open', sources: ['/proc/driver/nvidia/version'], srcversion: 'A1' },
  ...{ references: 2, taints: 'OE' },
}

export const NVIDIA: NvidiaDriver = {
  kernel: '6.17.0-5-generic',
  running: RUNNING,
  conflictingModules: [],
  onDisk: [OPEN_MODULE],
  ...{ initramfs: [], trees: [], dkms: [] },
  options: { running: {}, runningRegistry: {}, configured: [], configuredRegistry: {} },
  kernels: [],
  staticBar1: { state: 'auto', reason: 'the default since 580.65.06' },
  gpus: [{ address: GPU, model: 'NVIDIA GeForce RTX 3090', uuid: undefined, minor: 0, videoBios: undefined }],
  libcuda: { path: '/usr/lib/x86_64-linux-gnu/libcuda.so.590.48.01', version: '590.48.01' },
  mismatches: [],
}

const PROCESS: ProcessFacts = {
  isRoot: true,
  addon: { isLoaded: true },
  cuda: {
    available: true,
    message: `CUDA 13.1 with NVIDIA GeForce RTX 3090 at ${GPU}`,
    library: 'libcuda.so.1',
    driverVersion: '13.1',
    moduleLoading: 'eager',
    devices: [
      {
        ...{ device: 0, name: 'NVIDIA GeForce RTX 3090', computeCapability: '8.6', bdf: GPU, memoryBytes: 24 * GIB },
        ...{ usesHostPointers: true, canRegisterMemory: true, canGpuDirectRdma: false, canExportDmaBuf: false },
        ...{ limitsKernelTime: false, computeMode: 'default' },
        ordering: { writesOrdering: 100, flushWritesOptions: 1 },
        engine: { usable: true, reasons: [] },
      },
    ],
  },
}

/** Returns facts of a rig without problems besides those of its board, with changes. */
export function facts(
  changes: { machine?: Partial<Machine>; nvidia?: Partial<NvidiaDriver>; process?: Partial<ProcessFacts> | null } = {},
): Facts {
  return {
    machine: { ...MACHINE, ...changes.machine },
    nvidia: { ...NVIDIA, ...changes.nvidia },
    process: changes.process === null ? undefined : { ...PROCESS, ...changes.process },
  }
}

/** Returns the machine with one PCI function changed. */
export function withFunction(address: string, changes: Partial<PciFunction>): Partial<Machine> {
  return {
    functions: MACHINE.functions.map((each) => (each.address === address ? { ...each, ...changes } : each)),
  }
}

export const NEEDS_ROOT = unknown('needs root: configuration space past byte 64')

/** Renders a step for a user who runs 'gpunvme' and is not root. */
export function textOf({ action }: Step): string {
  return renderStep(action, ELSEWHERE)
}
