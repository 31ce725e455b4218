import { isKnown, valueOf } from '../../machine/known.js'
import type { Gpu } from '../../machine/machine.js'
import type { DiskModule, ModuleContents, NvidiaDriver, PfnLookup, RunningModule } from '../../nvidia/index.js'
import { functionAt, gpunvme, sysfs, type Facts } from '../facts.js'
import { command, finding, hands, instead, read, type Draft, type Finding } from '../finding.js'
import { generationOf, isBefore, type Generation } from '../generation.js'
import { openFlavour } from '../open-flavour.js'

/** NVIDIA's driver: which flavour and version runs, whether a GPU can be given a drive's registers by it, and static BAR1. */
export function checkNvidia(facts: Facts): Finding[] {
  const gpus = facts.machine.gpus.filter(({ vendor }) => vendor === 'NVIDIA')
  if (gpus.length === 0) return []
  const drafts = [...gpus.flatMap((gpu) => checkGpu(facts, gpu)), ...runningModule(facts)]
  return drafts.map((draft) => finding('nvidia', draft))
}

function checkGpu(facts: Facts, { address, model }: Gpu): Draft[] {
  const found = functionAt(facts, address)
  const generation = found === undefined ? undefined : generationOf(found.deviceId)
  const name = valueOf(model) ?? `GPU ${address}`
  const drafts = [...boundDriver(facts, address, found?.driver), ...byGeneration(name, address, generation)]
  return drafts.map((draft) => ({ ...draft, subjects: [address] }))
}

function boundDriver(facts: Facts, address: string, driver: string | undefined): Draft[] {
  const evidence = [read(sysfs(address, 'driver'), driver ?? 'none')]
  if (driver === 'nvidia') return []
  const isLoaded = valueOf(facts.nvidia.running) !== undefined
  const rival = driver === 'nouveau' || driver === 'nova_core'
  return [
    {
      id: 'gpu-driver',
      severity: 'problem',
      title: `GPU ${address} ${driver === undefined ? 'has no driver' : `belongs to ${driver}`}: CUDA needs NVIDIA's`,
      evidence,
      steps: rival
        ? [...openFlavour(facts), hands(`restart, so that ${driver} lets go of it`)]
        : isLoaded
          ? [hands("give it back to NVIDIA's driver: driver_override empty, unbind, and drivers_probe")]
          : openFlavour(facts),
      closes: ['tier1'],
    },
  ]
}

function byGeneration(name: string, address: string, generation: Generation | undefined): Draft[] {
  if (generation === undefined)
    return [
      {
        id: 'generation-unknown',
        severity: 'unknown',
        title: `${name}: its generation is not known here`,
        evidence: [read(sysfs(address, 'device'), 'in no block of known chips')],
        closes: ['tier1-cuda'],
      },
    ]
  const evidence = [read(sysfs(address, 'device'), generation)]
  if (isBefore(generation, 'Turing'))
    return [
      {
        id: 'generation-old',
        severity: 'problem',
        title: `${name} is older than Turing: our kernels do not run on it`,
        cause: "Nor does the open flavour of NVIDIA's driver, which all ways to its memory need.",
        evidence,
        steps: [instead('the engine host: the CPU rings, the GPU copies')],
        closes: ['tier1-cuda', 'tier2-dma-buf', 'tier2-static-bar1'],
      },
    ]
  if (generation === 'Blackwell')
    return [
      {
        id: 'blackwell',
        severity: 'problem',
        title: `${name} is Blackwell: the engine cuda is refused there`,
        cause: "A drive's registers in the reach of a Blackwell GPU froze a machine with an RTX 5060 Ti.",
        evidence,
        steps: [instead('the engine host: at 1 MiB a command the doorbell costs nothing')],
        closes: ['tier1-cuda'],
      },
    ]
  return [{ id: 'generation', severity: 'ok', title: `${name} is ${generation}`, evidence, opens: ['tier1-cuda'] }]
}

function runningModule(facts: Facts): Draft[] {
  const { running } = facts.nvidia
  if (!isKnown(running))
    return [
      {
        id: 'nvidia-unknown',
        severity: 'unknown',
        title: "Whether NVIDIA's module is loaded is not known",
        evidence: [read('/proc/driver/nvidia/version', running.unknown)],
        closes: ['tier1'],
      },
    ]
  if (running === undefined) return [absent(facts)]
  return [version(running), ...flavour(facts, running), ...lookup(facts, running), ...mismatches(facts), ...bar1(facts)]
}

function absent(facts: Facts): Draft {
  const { onDisk, kernel } = facts.nvidia
  const here = valueOf(onDisk)?.some((module) => module.kernel === valueOf(kernel)) ?? false
  const evidence = [read('/proc/driver/nvidia/version', 'not there')]
  if (here)
    return {
      id: 'nvidia-not-loaded',
      severity: 'problem',
      title: "NVIDIA's module is installed for this kernel, and not loaded",
      evidence,
      steps: [command('sudo modprobe nvidia'), hands('if it refuses: sudo dmesg | tail says why')],
      closes: ['tier1'],
    }
  return {
    id: 'nvidia-missing',
    severity: 'problem',
    title: "NVIDIA's module is not installed for the kernel that runs",
    evidence: [...evidence, read('/lib/modules', `no nvidia.ko for ${valueOf(kernel) ?? 'it'}`)],
    steps: openFlavour(facts),
    closes: ['tier1'],
  }
}

function version({ version: running, flavour: kind, sources }: RunningModule): Draft {
  const title = `NVIDIA's module ${valueOf(running) ?? 'of unknown version'} runs`
  return {
    id: 'nvidia',
    severity: 'ok',
    title: isKnown(kind) ? `${title}, ${kind} flavour` : title,
    evidence: sources.slice(0, 2).map((source) => read(source, valueOf(running) ?? '?')),
    opens: ['tier1'],
  }
}

function flavour(facts: Facts, { flavour: kind, sources }: RunningModule): Draft[] {
  const evidence = sources.slice(0, 2).map((source) => read(source, isKnown(kind) ? kind : kind.unknown))
  if (!isKnown(kind))
    return [
      {
        id: 'flavour-unknown',
        severity: 'unknown',
        title: "Whether NVIDIA's module is of the open flavour is not known",
        evidence,
        closes: ['tier2-dma-buf'],
      },
    ]
  if (kind === 'open')
    return [{ id: 'flavour', severity: 'ok', title: 'Open flavour', evidence, opens: ['tier2-dma-buf'] }]
  return [
    {
      id: 'flavour-proprietary',
      severity: 'problem',
      title: "The proprietary flavour of NVIDIA's module: it exports no GPU memory",
      cause: 'Its dma-buf entries are stubs. The open flavour, of the same version, has them.',
      evidence,
      steps: openFlavour(facts),
      closes: ['tier2-dma-buf'],
    },
  ]
}

/** Whether the running module can find the pages of a drive's registers: what decides if the GPU may ring. */
function lookup(facts: Facts, running: RunningModule): Draft[] {
  const file = fileOf(facts.nvidia, running)
  if (file === undefined)
    return [
      {
        id: 'pfn-lookup-unknown',
        severity: 'unknown',
        title: "How the running module looks up a drive's registers is not known",
        cause: 'That is read from the file that it was loaded from, and none on disk is the same module.',
        evidence: [read('/lib/modules', 'no nvidia.ko with its version and srcversion')],
        closes: ['tier1-cuda'],
      },
    ]
  const { path, contents } = file
  const way = contents.pfnLookup
  const evidence = [read(path, way === 'none' ? 'imports no PFN look-up' : way)]
  if (way !== 'none')
    return [
      {
        id: 'pfn-lookup',
        severity: 'ok',
        title: `NVIDIA's module finds a drive's registers (${LOOKUPS[way]})`,
        evidence,
        opens: ['tier1-cuda'],
      },
    ]
  return [{ ...noLookup(facts, contents), evidence }]
}

const LOOKUPS: Readonly<Record<Exclude<PfnLookup, 'none'>, string>> = {
  follow_pfnmap_start: 'by follow_pfnmap_start',
  follow_pte: 'by follow_pte',
  follow_pfn: 'by follow_pfn',
  unsafe_follow_pfn: 'by unsafe_follow_pfn',
  'page-table-walk': 'by the page-table walk that gpunvme driver applied',
  'guarded-vm_pgoff': 'by the guarded formula that gpunvme driver applied: through /sys, not through vfio',
}

function noLookup(facts: Facts, { flavour: kind }: ModuleContents): Draft {
  const draft = {
    id: 'pfn-lookup-dead',
    severity: 'problem',
    title: "NVIDIA's module cannot find a drive's registers: the GPU cannot ring doorbells",
    closes: ['tier1-cuda'],
  } as const satisfies Draft
  if (valueOf(kind) === 'open')
    return {
      ...draft,
      cause:
        'This build of the open flavour found no look-up in the kernel: it is from before 570.133 or 550.163, or the kernel headers lacked a complete Module.symvers.',
      steps: [...openFlavour(facts, 'newer'), command(gpunvme(facts, 'driver'))],
    }
  return {
    ...draft,
    cause:
      'The proprietary flavour may not call what kernels from 6.10 on have for it, so that cudaHostRegister of a BAR fails. The open flavour may.',
    steps: [...openFlavour(facts), instead(`must it stay proprietary: ${gpunvme(facts, 'driver plan')}`)],
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

function mismatches(facts: Facts): Draft[] {
  return facts.nvidia.mismatches.map(({ kind, text }): Draft => {
    const isFatal = kind === 'running-and-libcuda'
    const isNext = ['running-and-disk', 'running-and-initramfs', 'disk-and-initramfs', 'mark-lost'].includes(kind)
    return {
      id: `nvidia-${kind}`,
      severity: isFatal || isNext ? 'problem' : 'note',
      title: text,
      evidence: [],
      steps: isFatal ? [hands('restart, or install both of one version')] : [command(gpunvme(facts, 'driver'))],
      closes: isFatal ? ['tier1'] : [],
    }
  })
}

function bar1(facts: Facts): Draft[] {
  const { state, because } = facts.nvidia.staticBar1
  const evidence = [read('static BAR1', because)]
  if (!isKnown(state))
    return [
      {
        id: 'static-bar1-unknown',
        severity: 'unknown',
        title: 'Whether this driver has a static BAR1 window is not known',
        evidence: [read('static BAR1', state.unknown)],
        closes: ['tier2-static-bar1'],
      },
    ]
  if (state === 'on' || state === 'auto')
    return [
      {
        id: 'static-bar1',
        severity: 'ok',
        title: state === 'on' ? 'Static BAR1 is on' : 'Static BAR1 is on wherever BAR1 holds all GPU memory',
        evidence,
        opens: ['tier2-static-bar1'],
      },
    ]
  return [
    {
      id: 'static-bar1-off',
      severity: 'note',
      title: `No static BAR1 window: ${because}`,
      evidence,
      steps:
        state === 'off'
          ? [command(gpunvme(facts, 'driver plan'))]
          : [hands('driver 565.77 or newer, open flavour, on Turing or newer')],
      closes: ['tier2-static-bar1'],
    },
  ]
}
