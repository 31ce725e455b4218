import { isKnown, valueOf } from '../../machine/known.js'
import type { DiskModule, ModuleContents, NvidiaDriver, PfnLookup, RunningModule } from '../../nvidia/index.js'
import { gpunvme, type Facts } from '../facts.js'
import { command, read, type Draft } from '../finding.js'
import { fixedDriver } from '../open-flavour.js'

/** Whether the running module can find the pages of a drive's registers: what decides if the GPU may ring. */
export function checkLookup(facts: Facts, running: RunningModule): Draft {
  const file = fileOf(facts.nvidia, running)
  if (file === undefined)
    return {
      id: 'pfn-lookup-unknown',
      severity: 'unknown',
      title: "How the running module looks up a drive's registers is not known",
      cause: 'That is read from the file that it was loaded from, and none on disk is the same module.',
      evidence: [read('/lib/modules', 'no nvidia.ko with its version and srcversion')],
      closes: ['tier1-cuda'],
    }
  const { path, contents } = file
  const way = contents.pfnLookup
  if (way === 'none') return noLookup(facts, contents, path)
  return {
    id: 'pfn-lookup',
    severity: 'ok',
    title: `NVIDIA's module finds a drive's registers (${LOOKUPS[way]})`,
    evidence: [read(path, way)],
    opens: ['tier1-cuda'],
  }
}

const LOOKUPS: Readonly<Record<Exclude<PfnLookup, 'none'>, string>> = {
  follow_pfnmap_start: 'by follow_pfnmap_start',
  follow_pte: 'by follow_pte',
  follow_pfn: 'by follow_pfn',
  unsafe_follow_pfn: 'by unsafe_follow_pfn',
  'page-table-walk': 'by the page-table walk that gpunvme driver applied',
  'guarded-vm_pgoff': 'by the guarded formula that gpunvme driver applied: through /sys, not through vfio',
}

export const DEAD_LOOKUP = 'pfn-lookup-dead'

function noLookup(facts: Facts, { flavour: kind }: ModuleContents, path: string): Draft {
  const isOpen = valueOf(kind) === 'open'
  return {
    id: DEAD_LOOKUP,
    severity: 'problem',
    title: "NVIDIA's module cannot find a drive's registers: the GPU cannot ring doorbells",
    cause: isOpen
      ? 'This build of the open flavour found no look-up in the kernel: it is from before 570.133 or 550.163, or the kernel headers lacked a complete Module.symvers.'
      : 'The proprietary flavour may not call what the kernel has for it, so that cudaHostRegister of a BAR fails.',
    evidence: [read(path, 'imports no PFN look-up')],
    steps: [...(isOpen ? fixedDriver(facts) : []), command(gpunvme(facts, 'driver'))],
    closes: ['tier1-cuda'],
  }
}

/** The file that the running module came from: the same version, and the same sources where both say. */
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
