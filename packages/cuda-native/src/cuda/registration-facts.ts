import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { release } from 'node:os'
import { join } from 'node:path'
import { registerLookup, type NvidiaModule } from './register-lookup.js'

/** Where to find facts about the machine, for tests. */
export interface RegistrationCircumstances {
  /** Directory with `proc` and `sys`. Default: `/`. */
  readonly root?: string
  /** Release of the kernel. Default: that of uname. */
  readonly kernelRelease?: string
}

/** Mapped memory that the driver was to register: a controller's registers with IOMEMORY, or memory without it. */
export interface RegistrationRange {
  readonly kind: 'registers' | 'memory'
  readonly address: bigint
  readonly lengthBytes: number
}

/** Facts that a refused registration depends on, and the next step if they show the cause. */
export interface RegistrationReport {
  readonly kind: RegistrationRange['kind']
  readonly facts: readonly string[]
  readonly next: string | undefined
}

/**
 * Explains a refused registration: first by the mapping, since NVIDIA's driver registers page frames without struct page
 * (VM_IO, VM_PFNMAP) as registers only, and pages as memory only; then, for registers, by the variant and version of its
 * kernel module, which looks up the frames, and by the kernel, whose look-ups only GPL modules can use since Linux 6.10.
 */
export function explainRegistration(
  range: RegistrationRange,
  { root = '/', kernelRelease = release() }: RegistrationCircumstances = {},
): RegistrationReport {
  const module = loadedModule(root)
  const mapping = mappingAt(root, range)
  const facts = [`driver: ${nameOf(module)}`, `Linux ${kernelRelease}`]
  if (range.kind === 'registers') facts.push(`IOMMU: ${iommuState(root)}`)
  facts.push(`the range: ${describe(mapping, range)}`)
  return { kind: range.kind, facts, next: nextStep(range.kind, mapping, module, kernelRelease) }
}

const PFNMAP = 'page frames without struct page (VM_IO, VM_PFNMAP)'

/** Returns the step that the facts suggest; undefined if they do not show the cause. */
function nextStep(
  kind: RegistrationRange['kind'],
  mapping: Mapping | undefined,
  module: NvidiaModule | undefined,
  kernelRelease: string,
): string | undefined {
  if (mapping === undefined || mapping.isShort) return 'map the whole range before registering it'
  if (kind === 'memory') {
    if (!mapping.isPfnmap) return undefined
    return OWN_NODE.test(mapping.name)
      ? 'update the gpunvme kernel module: the loaded one does not map queues as pages (kmod/README.md)'
      : 'use page-backed memory, such as anonymous memory'
  }
  if (!mapping.isPfnmap) return "map the controller's BAR, or set isMemory to register it as memory"
  if (module === undefined) return undefined
  const lookup = registerLookup(module, kernelRelease)
  return lookup === 'works' ? undefined : lookup === 'needs-open' ? OPEN_MODULE : NEWER_MODULE
}

const OPEN_MODULE = "install the current open variant of NVIDIA's kernel modules, which supports GPUs from Turing on"
const NEWER_MODULE =
  "update NVIDIA's driver: open kernel modules support this kernel in 535.247.01, 550.163.01, 570.133.07 and later"
function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** Only the open variant names itself. */
function loadedModule(root: string): NvidiaModule | undefined {
  const text = read(join(root, 'proc/driver/nvidia/version'))
  const line = text?.split('\n').find((each) => each.startsWith('NVRM version:'))
  if (line === undefined) return undefined
  const version = /\s(\d+(?:\.\d+)+)\s/.exec(line)?.[1] ?? 'of unknown version'
  return { isOpen: line.includes('Open Kernel Module'), version }
}

function nameOf(module: NvidiaModule | undefined): string {
  if (module === undefined) return 'no NVIDIA kernel module reports its version in /proc/driver/nvidia/version'
  return `${module.isOpen ? 'open' : 'proprietary'} kernel module ${module.version}`
}

function iommuState(root: string): string {
  const groups = join(root, 'sys/kernel/iommu_groups')
  if (!existsSync(groups) || readdirSync(groups).length === 0) return 'off (no IOMMU groups)'
  const types = readdirSync(groups).map((group) => read(join(groups, group, 'type'))?.trim() ?? 'unknown')
  const kinds = [...new Set(types)].sort().join(', ')
  return `on, with groups of type ${kinds}; the driver then maps registers for the GPU unless NVreg_DmaRemapPeerMmio=0`
}

interface Mapping {
  readonly name: string
  readonly isPfnmap: boolean
  /** Whether the mapping ends before the end of the range. */
  readonly isShort: boolean
}

/** Node of the module gpunvme, which maps registers and queues. */
const OWN_NODE = /^\/dev\/gpunvme\d+/

/** Returns the mapping in which a range begins, by the kernel's name for it and by VmFlags of smaps. */
function mappingAt(root: string, { address, lengthBytes }: RegistrationRange): Mapping | undefined {
  const text = read(join(root, 'proc/self/smaps')) ?? ''
  for (const match of text.matchAll(/^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ \S+[^\S\n]*(.*)$/gm)) {
    const [from, to] = [BigInt(`0x${match[1]!}`), BigInt(`0x${match[2]!}`)]
    if (address < from || address >= to) continue
    const flags = /^VmFlags:(.*)$/m.exec(text.slice(match.index))?.[1] ?? ''
    return { name: match[3]!, isPfnmap: /\b(pf|io)\b/.test(flags), isShort: address + BigInt(lengthBytes) > to }
  }
  return undefined
}

function describe(mapping: Mapping | undefined, { kind }: RegistrationRange): string {
  if (mapping === undefined) return 'not mapped in this process'
  const { name, isPfnmap, isShort } = mapping
  const where = /\/resource\d+(_wc)?$/.test(name)
    ? `a PCI BAR, ${name}`
    : /vfio/.test(name)
      ? `a region of VFIO, ${name}`
      : OWN_NODE.test(name)
        ? `mapped by the module gpunvme, ${name}`
        : name === ''
          ? 'anonymous memory'
          : name
  const refused = kind === 'memory' ? isPfnmap : !isPfnmap
  const pages = isPfnmap ? PFNMAP : 'pages of memory'
  const as = refused ? `, which the driver does not register as ${kind}` : ''
  return `${where}; ${pages}${as}${isShort ? '; the mapping ends before the range does' : ''}`
}
