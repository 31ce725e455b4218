import { costModel, deriveProfile, profiles, type ProfileName } from '@gpunvme/nvme-sim'
import { lineRate, payloadLimit, type Link } from '@gpunvme/nvme-spec/pcie'
import type { CostModel } from '@gpunvme/nvme-spec/transport'
import { isKnown, valueOf, type Known } from '../machine/known.js'
import { functionAt, linkToCpu, type Machine, type PathLimit } from '../machine/index.js'
import { shapeText } from '../machine/views/names.js'
import type { CudaStatus } from '@gpunvme/cuda-native'

/** Parts of a GPU's memory and of host memory that layers may use by default; the rest is left to other programs. */
const VRAM_PART = 0.75
const RAM_PART = 0.5

/** Returns the GPU memory, in bytes, that layers may use by default. */
export function defaultVramBytes(memoryBytes: number): number {
  return Math.floor(memoryBytes * VRAM_PART)
}

/** Returns the host memory, in bytes, that layers may use by default. */
export function defaultRamBytes(totalBytes: number): number {
  return Math.floor(totalBytes * RAM_PART)
}

/** Cost of reads of a drive in this machine, and where it comes from. */
export interface DriveCost {
  readonly cost: CostModel
  /** Preset of the drive; undefined if no preset models it, in which case it is assumed to fill its link. */
  readonly preset: ProfileName | undefined
  readonly link: PathLimit
  /** Whether the preset was measured on a slower link, so that the drive may be faster here. */
  readonly isLeast: boolean
}

/** Drives that presets model, by model name or by the name in the list of PCI IDs. */
const MODELS: readonly (readonly [pattern: RegExp, preset: ProfileName])[] = [
  [/\bSN740\b/i, 'sn740'],
  [/\bSN530\b/i, 'sn530'],
  [/\b980 PRO\b/i, '980pro'],
  [/\b990 PRO\b/i, '990pro'],
  [/\bP5800X\b/i, 'p5800x'],
  [/\bPM1753\b/i, 'pm1753'],
]

/**
 * Returns the cost of reads of the drive at `address`: that of its preset on this machine's link, or of its link alone.
 * Unknown if its link is.
 */
export function driveCostOf(machine: Machine, address: string): Known<DriveCost> {
  const link = linkToCpu(machine, address)
  if (!isKnown(link)) return link
  const preset = presetOf(machine, address)
  const own = preset && profiles[preset].link
  if (preset === undefined || own === undefined)
    return { cost: { readNs: nanosecondsAt(link.payloadBytesPerSecond) }, preset: undefined, link, isLeast: false }
  const profile = deriveProfile(preset, { link: { ...own, ...shapeOf(link) } })
  return { cost: costModel(profile), preset, link, isLeast: lineRate(shapeOf(link)) > lineRate(own) }
}

function presetOf(machine: Machine, address: string): ProfileName | undefined {
  const drive = machine.drives.find((each) => each.address === address)
  const name = (drive && valueOf(drive.model)) ?? functionAt(machine, address)?.deviceName ?? ''
  return MODELS.find(([pattern]) => pattern.test(name))?.[1]
}

function shapeOf({ gen, lanes, maxPayloadBytes }: PathLimit): Pick<Link, 'gen' | 'width' | 'mps'> {
  return { gen: gen as Link['gen'], width: lanes, mps: maxPayloadBytes }
}

/** Returns the cost of copies at the limit of the GPU's link, the best case. */
export function copyCostOf(link: Link): Required<Pick<CostModel, 'copyNs'>> {
  return { copyNs: nanosecondsAt(payloadLimit(link)) }
}

/** Returns the GPU's link to the CPU, for `copyCostOf`. */
export function gpuLinkOf(machine: Machine, address: string): Known<Link> {
  const link = linkToCpu(machine, address)
  return isKnown(link) ? shapeOf(link) : link
}

function nanosecondsAt(bytesPerSecond: number): (lengthBytes: number) => number {
  return (lengthBytes) => (lengthBytes / bytesPerSecond) * 1e9
}

/** Facts of the machine that a plan uses where no option overrides them; undefined if unknown. */
export interface MachineDefaults {
  readonly vramBytes: number | undefined
  /** The GPU's link to the CPU. */
  readonly gpuLink: Link | undefined
  /** Cost of reads of the named drive. */
  readonly drive: DriveCost | undefined
}

/**
 * Returns the facts of GPU 0 of CUDA, which `load` uses too, or else of the only NVIDIA GPU, and of a drive.
 * @param driveAddress PCI address of the drive that the plan reads; undefined without a real drive.
 */
export function machineDefaults(
  machine: Machine,
  cuda: CudaStatus | undefined,
  driveAddress: string | undefined,
): MachineDefaults {
  const device = cuda?.available === true ? cuda.devices[0] : undefined
  const nvidia = machine.gpus.filter(({ vendor }) => vendor === 'NVIDIA')
  const gpu = device?.bdf ?? (nvidia.length === 1 ? nvidia[0]!.address : undefined)
  const isListed = (address: string | undefined): address is string =>
    address !== undefined && functionAt(machine, address) !== undefined
  const drive = isListed(driveAddress) ? driveCostOf(machine, driveAddress) : undefined
  return {
    vramBytes: device && defaultVramBytes(device.memoryBytes),
    gpuLink: isListed(gpu) ? valueOf(gpuLinkOf(machine, gpu)) : undefined,
    drive: drive !== undefined && isKnown(drive) ? drive : undefined,
  }
}

/** Returns the origin of a drive's cost, as a plan records it. */
export function costFromOf({ preset, link }: DriveCost): `preset ${string}` | `link ${string}` {
  const shape = shapeText(link)
  return preset === undefined ? `link ${shape}` : `preset ${preset} on ${shape}`
}
