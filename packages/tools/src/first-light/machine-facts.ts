import { valueOf } from '../machine/known.js'
import { ancestorsOf, functionAt, nowOf, pathBetween, type Machine } from '../machine/index.js'
import type { Facts } from '../doctor/facts.js'
import { memoryOf } from '../doctor/facts.js'
import type { Severity } from '../doctor/finding.js'
import type { Diagnosis } from '../doctor/report/examine.js'

/** A link as it runs now: '0000:0b:00.0' at Gen4 x4. */
interface LinkFacts {
  readonly gen: number
  readonly lanes: number
}

/** Description of the machine; unknown values are null. */
export interface MachineFacts {
  readonly board: string | null
  readonly boardVendor: string | null
  readonly biosVersion: string | null
  readonly cpu: string | null
  readonly sockets: number
  readonly memoryBytes: number | null
  readonly hypervisor: string | null
  readonly distribution: string | null
  readonly kernel: string | null
  readonly lockdown: string | null
  readonly secureBoot: boolean | null
  readonly iommu: string
  readonly iommuKind: string | null
  readonly nvidia: { readonly version: string | null; readonly flavour: string | null } | null
  /** Why CUDA is not available; null if it is. */
  readonly cudaObstacle: string | null
  readonly gpu: GpuFacts | null
  /** Null for a simulated or served drive. */
  readonly drive: { readonly address: string; readonly model: string | null; readonly link: LinkFacts | null } | null
  readonly path: PathFacts | null
  /** Findings of `gpunvme doctor`, by their IDs. */
  readonly findings: readonly { readonly id: string; readonly severity: Severity }[]
  readonly best: { readonly route: string; readonly readiness: string } | null
}

interface GpuFacts {
  readonly address: string
  readonly model: string | null
  readonly computeCapability: string | null
  readonly memoryBytes: number | null
  /** Size of BAR1. */
  readonly windowBytes: number | null
  readonly link: LinkFacts | null
}

/** The path between GPU and drive. */
interface PathFacts {
  readonly meeting: string
  /** PCI vendor and device IDs of the bridges above the drive, nearest first. */
  readonly bridges: readonly string[]
  readonly writes: string
  readonly reads: string
  readonly bytesPerSecond: number | null
}

/** @param gpu PCI address of the GPU. @param drive PCI address of the drive */
export function machineFacts(
  { facts, findings, pairs }: Diagnosis,
  gpu: string | undefined,
  drive: string | undefined,
): MachineFacts {
  const { machine } = facts
  const { board, cpu, kernel, iommu } = machine
  const cuda = facts.process?.cuda
  const pair = drive === undefined ? undefined : pairs.find((each) => each.drive === drive && each.gpu === gpu)
  return {
    board: board.name ?? board.systemName ?? null,
    boardVendor: board.vendor ?? board.systemVendor ?? null,
    biosVersion: board.biosVersion ?? null,
    cpu: valueOf(cpu.model) ?? null,
    sockets: cpu.sockets,
    memoryBytes: valueOf(machine.memory.totalBytes) ?? null,
    hypervisor: machine.virtualisation.hypervisor?.name ?? null,
    distribution: valueOf(machine.distribution)?.name ?? null,
    kernel: valueOf(kernel.release) ?? null,
    lockdown: valueOf(kernel.lockdown) ?? null,
    secureBoot: valueOf(machine.firmware.secureBoot) ?? null,
    iommu: iommu.mode,
    iommuKind: iommu.kind ?? null,
    nvidia: nvidiaFacts(facts),
    cudaObstacle: cuda === undefined || cuda.available ? null : cuda.code,
    gpu: gpuFacts(facts, gpu),
    drive: drive === undefined ? null : driveFacts(machine, drive),
    path: gpu === undefined || drive === undefined ? null : pathFacts(machine, gpu, drive),
    findings: findings.map(({ id, severity }) => ({ id, severity })),
    best: pair?.best === undefined ? null : { route: pair.best.route, readiness: pair.best.readiness },
  }
}

function nvidiaFacts({ nvidia }: Facts): MachineFacts['nvidia'] {
  const running = valueOf(nvidia.running)
  if (running === undefined) return null
  return { version: valueOf(running.version) ?? null, flavour: valueOf(running.flavour) ?? null }
}

function gpuFacts(facts: Facts, address: string | undefined): GpuFacts | null {
  const cuda = facts.process?.cuda
  const device = cuda?.available === true ? cuda.devices.find(({ bdf }) => bdf === address) : undefined
  const gpu = facts.machine.gpus.find((each) => each.address === address)
  if (address === undefined || (gpu === undefined && device === undefined)) return null
  return {
    address,
    model: device?.name ?? (gpu && valueOf(gpu.model)) ?? null,
    computeCapability: device?.computeCapability ?? null,
    memoryBytes: device?.memoryBytes ?? (gpu && valueOf(memoryOf(facts, gpu))) ?? null,
    windowBytes: (gpu && valueOf(gpu.window))?.sizeBytes ?? null,
    link: linkOf(facts.machine, address),
  }
}

function driveFacts(machine: Machine, address: string): MachineFacts['drive'] {
  const drive = machine.drives.find((each) => each.address === address)
  return { address, model: (drive && valueOf(drive.model)) ?? null, link: linkOf(machine, address) }
}

function linkOf(machine: Machine, address: string): LinkFacts | null {
  const found = functionAt(machine, address)
  const now = found && nowOf(found)
  return now === undefined ? null : { gen: now.gen, lanes: now.lanes }
}

function pathFacts(machine: Machine, gpu: string, drive: string): PathFacts | null {
  if (functionAt(machine, gpu) === undefined || functionAt(machine, drive) === undefined) return null
  const { meeting, writes, reads, slowest } = pathBetween(machine, gpu, drive)
  const id = (number: number) => number.toString(16).padStart(4, '0')
  return {
    meeting,
    bridges: ancestorsOf(machine, drive).map(({ vendorId, deviceId }) => `${id(vendorId)}:${id(deviceId)}`),
    writes: writes.passes,
    reads: reads.passes,
    bytesPerSecond: valueOf(slowest)?.payloadBytesPerSecond ?? null,
  }
}
