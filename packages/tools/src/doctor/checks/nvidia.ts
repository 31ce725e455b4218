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

/** NVIDIA's driver: which flavour and version runs, whether a GPU can be given a drive's registers by it, and static BAR1. */
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
        title: "Whether NVIDIA's module is loaded is not known",
        evidence: [read('/proc/driver/nvidia/version', running.unknown)],
        closes: ['tier1'],
      },
    ]
  if (running === undefined) return absent(facts)
  return [version(running), ...flavour(facts, running), ...checkVersions(facts), ...bar1(facts)]
}

function absent(facts: Facts): Draft[] {
  // Who has the GPUs now says more, and what is to be done.
  const isTaken = facts.machine.gpus.every(({ address }) => isRival(functionAt(facts.machine, address)?.driver))
  return isTaken ? [] : [notRunning(facts)]
}

function notRunning(facts: Facts): Draft {
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

function flavour(facts: Facts, running: RunningModule): Draft[] {
  const { flavour: kind, sources } = running
  const evidence = sources.slice(0, 2).map((source) => read(source, isKnown(kind) ? kind : kind.unknown))
  const found = checkLookup(facts, running)
  if (!isKnown(kind))
    return [
      {
        id: 'flavour-unknown',
        severity: 'unknown',
        title: "Whether NVIDIA's module is of the open flavour is not known",
        evidence,
        closes: ['tier2-dma-buf'],
      },
      found,
    ]
  if (kind === 'open')
    return [{ id: 'flavour', severity: 'ok', title: 'Open flavour', evidence, opens: ['tier2-dma-buf'] }, found]
  // For what is older there is no other flavour, and that it is older is said already.
  if (!hasTuring(facts)) return [found]
  const isDead = found.id === DEAD_LOOKUP
  const proprietary: Draft = {
    id: 'flavour-proprietary',
    severity: 'problem',
    title: isDead
      ? "The proprietary flavour of NVIDIA's module: its GPU neither rings doorbells nor lends memory"
      : "The proprietary flavour of NVIDIA's module: it lends no GPU memory",
    cause: [
      ...(isDead ? ["It may not call what the kernel has for finding the pages of a drive's registers."] : []),
      'Its dma-buf entries are stubs. The open flavour, of the same version, has both.',
    ].join(' '),
    evidence: [...evidence, ...(isDead ? (found.evidence ?? []) : [])],
    steps: [
      ...openFlavour(facts),
      ...(isDead
        ? [
            instead({
              words: [
                'must it stay proprietary: ',
                gpunvme(facts, 'driver plan pfn-lookup'),
                `, for doorbells alone${treeFirst(facts.nvidia)}`,
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
  const titles = {
    off: 'is off',
    'p2p-only': 'serves GPUs among themselves only',
    none: 'is not in this driver',
  } as const
  return [
    {
      id: 'static-bar1-off',
      severity: 'note',
      title: `Static BAR1 ${titles[state]}: ${because}`,
      evidence,
      steps:
        state === 'none'
          ? [hands('driver 580.65 or newer, open flavour, has it on by itself')]
          : [command(gpunvme(facts, 'driver plan options --set static-bar1'))],
      closes: ['tier2-static-bar1'],
    },
  ]
}
