import { treeFirst } from '../../nvidia/advice.js'
import { isKnown, valueOf } from '../../machine/known.js'
import { functionAt } from '../../machine/index.js'
import type { RunningModule } from '../../nvidia/index.js'
import { gpunvme, type Facts } from '../facts.js'
import { command, finding, hands, instead, read, type Draft, type Finding } from '../finding.js'
import { hasTuring, openFlavour } from '../open-flavour.js'
import { checkNvidiaGpu, isRival } from './nvidia-gpu.js'
import { checkLookup, DEAD_LOOKUP } from './nvidia-lookup.js'
import { checkVersions } from './nvidia-versions.js'

/** Checks flavour and version of NVIDIA's driver, its lookup of register pages, and static BAR1. */
export function checkNvidia(facts: Facts): Finding[] {
  const gpus = facts.machine.gpus.filter(({ vendor }) => vendor === 'NVIDIA')
  if (gpus.length === 0) return []
  const drafts = [...gpus.flatMap((gpu) => checkNvidiaGpu(facts, gpu)), ...runningModule(facts)]
  return drafts.map((draft) => finding('nvidia', draft))
}

function runningModule(facts: Facts): Draft[] {
  const { running } = facts.nvidia
  if (!isKnown(running))
    return [
      {
        id: 'nvidia-unknown',
        severity: 'unknown',
        title: "Unknown whether NVIDIA's module is loaded",
        evidence: [read('/proc/driver/nvidia/version', running.unknown)],
        closes: ['tier1'],
      },
    ]
  if (running === undefined) return absent(facts)
  return [
    ...[version(running), ...flavour(facts, running), ...rootOnly(facts)],
    ...[...checkVersions(facts), ...bar1(facts)],
  ]
}

function absent(facts: Facts): Draft[] {
  // The finding about the driver bound to the GPUs is more specific.
  const isTaken = facts.machine.gpus.every(({ address }) => isRival(functionAt(facts.machine, address)?.driver))
  return isTaken ? [] : [notRunning(facts)]
}

function notRunning(facts: Facts): Draft {
  const { onDisk, kernel } = facts.nvidia
  const here = valueOf(onDisk)?.some((module) => module.kernel === valueOf(kernel)) ?? false
  const evidence = [read('/proc/driver/nvidia/version', 'missing')]
  if (here)
    return {
      id: 'nvidia-not-loaded',
      severity: 'problem',
      title: "NVIDIA's module is installed for this kernel, but not loaded",
      evidence,
      steps: [command('sudo modprobe nvidia'), hands('if that fails, see: sudo dmesg | tail')],
      closes: ['tier1'],
    }
  return {
    id: 'nvidia-missing',
    severity: 'problem',
    title: "NVIDIA's module is not installed for the running kernel",
    evidence: [...evidence, read('/lib/modules', `no nvidia.ko for ${valueOf(kernel) ?? 'it'}`)],
    steps: openFlavour(facts),
    closes: ['tier1'],
  }
}

function version({ version: running, flavour: kind, sources }: RunningModule): Draft {
  const title = `NVIDIA's module ${valueOf(running) ?? 'of unknown version'} is running`
  return {
    id: 'nvidia',
    severity: 'ok',
    title: isKnown(kind) ? `${title}, ${kind} flavour` : title,
    evidence: sources.slice(0, 2).map((source) => read(source, valueOf(running) ?? '?')),
    opens: ['tier1'],
  }
}

/** Reports that only root may register registers, unless a registry key allows all users. */
function rootOnly({ nvidia: { options }, process }: Facts): Draft[] {
  if (process?.isRoot !== false || options.runningRegistry['PeerMappingOverride'] === 1) return []
  return [
    {
      id: 'registers-root-only',
      severity: 'note',
      title: "NVIDIA's driver lets only root give the GPU access to a drive's registers",
      evidence: [read('RegistryDwords', 'PeerMappingOverride is not 1')],
      steps: [hands('run as root, or load the driver with NVreg_RegistryDwords=PeerMappingOverride=1')],
    },
  ]
}

function flavour(facts: Facts, running: RunningModule): Draft[] {
  const { flavour: kind, sources } = running
  const evidence = sources.slice(0, 2).map((source) => read(source, isKnown(kind) ? kind : kind.unknown))
  const found = checkLookup(facts, running)
  if (!isKnown(kind))
    return [
      {
        id: 'flavour-unknown',
        severity: 'unknown',
        title: "Unknown whether NVIDIA's module is the open one",
        evidence,
        closes: ['tier2-dma-buf'],
      },
      found,
    ]
  if (kind === 'open')
    return [{ id: 'flavour', severity: 'ok', title: 'Open flavour', evidence, opens: ['tier2-dma-buf'] }, found]
  // GPUs before Turing have no open flavour, and another finding reports them.
  if (!hasTuring(facts)) return [found]
  const isDead = found.id === DEAD_LOOKUP
  const proprietary: Draft = {
    id: 'flavour-proprietary',
    severity: 'problem',
    title: isDead
      ? 'Proprietary NVIDIA module: no doorbells by the GPU, no access to GPU memory'
      : 'Proprietary NVIDIA module: no access to GPU memory',
    cause: [
      ...(isDead ? ["The kernel's function for looking up register pages is GPL-only."] : []),
      'Its dma-buf functions are stubs. The open module of the same version has both.',
    ].join(' '),
    evidence: [...evidence, ...(isDead ? (found.evidence ?? []) : [])],
    steps: [
      ...openFlavour(facts),
      ...(isDead
        ? [
            instead({
              words: [
                'to keep the proprietary module: ',
                gpunvme(facts, 'driver plan pfn-lookup'),
                `, for doorbells only${treeFirst(facts.nvidia)}`,
              ],
            }),
          ]
        : []),
    ],
    closes: isDead ? ['tier1-cuda', 'tier2-dma-buf'] : ['tier2-dma-buf'],
  }
  return isDead ? [proprietary] : [proprietary, found]
}

function bar1(facts: Facts): Draft[] {
  const { state, reason } = facts.nvidia.staticBar1
  const evidence = [read('static BAR1', reason)]
  if (!isKnown(state))
    return [
      {
        id: 'static-bar1-unknown',
        severity: 'unknown',
        title: 'Unknown whether this driver has a static BAR1 window',
        evidence: [read('static BAR1', state.unknown)],
        closes: ['tier2-static-bar1'],
      },
    ]
  if (state === 'on' || state === 'auto')
    return [
      {
        id: 'static-bar1',
        severity: 'ok',
        title: state === 'on' ? 'Static BAR1 is on' : 'Static BAR1 is on if BAR1 covers all GPU memory',
        evidence,
        opens: ['tier2-static-bar1'],
      },
    ]
  const titles = {
    off: 'is off',
    'p2p-only': 'works between GPUs only',
    none: 'is not in this driver',
  } as const
  return [
    {
      id: 'static-bar1-off',
      severity: 'note',
      title: `Static BAR1 ${titles[state]}: ${reason}`,
      evidence,
      steps:
        state === 'none'
          ? [hands('use the open driver 580.65 or later, which enables it by default')]
          : [command(gpunvme(facts, 'driver plan options --set static-bar1'))],
      closes: ['tier2-static-bar1'],
    },
  ]
}
