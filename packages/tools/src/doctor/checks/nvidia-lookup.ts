import { registerLookup } from '@gpunvme/cuda-native/cuda'
import { isKnown, valueOf } from '../../machine/known.js'
import type { DiskModule, ModuleContents, NvidiaDriver, PfnLookup, RunningModule } from '../../nvidia/index.js'
import { gpunvme, type Facts } from '../facts.js'
import { command, read, type Draft } from '../finding.js'
import { fixedDriver } from '../open-flavour.js'

/** Checks whether the running module can look up the pages of a drive's registers, which GPU doorbells require. */
export function checkLookup(facts: Facts, running: RunningModule): Draft {
  const file = fileOf(facts.nvidia, running)
  if (file === undefined) return lookupByVersions(facts, running)
  const { path, contents } = file
  const way = contents.pfnLookup
  if (way === 'none')
    return {
      ...noLookup(facts, valueOf(contents.flavour) === 'open', NOT_FOUND),
      evidence: [read(path, 'imports no PFN lookup')],
    }
  return {
    id: 'pfn-lookup',
    severity: 'ok',
    title: `NVIDIA's module can look up register pages (${LOOKUPS[way]})`,
    evidence: [read(path, way)],
    opens: ['tier1-cuda'],
  }
}

/** Predicts the lookup from versions if the module's file, which shows it, is missing. Assumes an unmodified build. */
function lookupByVersions(facts: Facts, { version, flavour }: RunningModule): Draft {
  const { kernel } = facts.nvidia
  const noFile = read('/lib/modules', 'no nvidia.ko with its version and srcversion')
  if (!isKnown(version) || !isKnown(flavour) || !isKnown(kernel))
    return {
      id: 'pfn-lookup-unknown',
      severity: 'unknown',
      title: 'Unknown how the running module looks up register pages',
      cause: "That is read from the module's file, and none on disk matches the running module.",
      evidence: [noFile],
      closes: ['tier1-cuda'],
    }
  const lookup = registerLookup({ isOpen: flavour === 'open', version }, kernel)
  const evidence = [noFile, read('versions', `${flavour} ${version}, Linux ${kernel}`)]
  if (lookup === 'works')
    return {
      id: 'pfn-lookup',
      severity: 'ok',
      title: "NVIDIA's module can look up register pages, by its version and the kernel's",
      evidence,
      opens: ['tier1-cuda'],
    }
  return {
    ...noLookup(facts, flavour === 'open', 'This version does not use the function that this kernel has.'),
    evidence,
  }
}

const LOOKUPS: Readonly<Record<Exclude<PfnLookup, 'none'>, string>> = {
  follow_pfnmap_start: 'by follow_pfnmap_start',
  follow_pte: 'by follow_pte',
  follow_pfn: 'by follow_pfn',
  unsafe_follow_pfn: 'by unsafe_follow_pfn',
  'page-table-walk': 'by a page-table walk, patched by gpunvme driver',
  'guarded-vm_pgoff': 'by the guarded formula, patched by gpunvme driver: for /sys, not for vfio',
}

export const DEAD_LOOKUP = 'pfn-lookup-dead'

const NOT_FOUND =
  'This build of the open module found no lookup function in the kernel: it is older than 570.133 or 550.163, or Module.symvers of the kernel headers was incomplete.'

/** @param ofOpen why a module of the open flavour has no lookup */
function noLookup(facts: Facts, isOpen: boolean, ofOpen: string): Draft {
  return {
    id: DEAD_LOOKUP,
    severity: 'problem',
    title: "NVIDIA's module cannot look up register pages: the GPU cannot ring doorbells",
    cause: isOpen
      ? ofOpen
      : "The kernel's function for it is GPL-only, so cudaHostRegister of a BAR fails with the proprietary module.",
    steps: [...(isOpen ? fixedDriver(facts) : []), command(gpunvme(facts, 'driver'))],
    closes: ['tier1-cuda'],
  }
}

/** Returns the module file of the same version and, where both are known, the same srcversion. */
function fileOf(
  { onDisk, kernel }: NvidiaDriver,
  running: RunningModule,
): { readonly path: string; readonly contents: ModuleContents } | undefined {
  const found = (valueOf(onDisk) ?? []).filter((module) => module.kernel === valueOf(kernel)).filter(isReadable)
  return found.find(
    ({ contents: { version: onFile, srcversion } }) =>
      onFile === valueOf(running.version) &&
      (srcversion === undefined || running.srcversion === undefined || srcversion === running.srcversion),
  )
}

function isReadable(module: DiskModule): module is DiskModule & { readonly contents: ModuleContents } {
  return isKnown(module.contents)
}
