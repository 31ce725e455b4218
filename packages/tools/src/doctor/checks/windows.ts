import { isKnown, valueOf } from '../../machine/known.js'
import type { Gpu, GpuWindow } from '../../machine/machine.js'
import { formatBytes } from '../../terminal/units.js'
import { firmwareSwitch } from '../advice.js'
import { memoryOf, sysfs, type Facts } from '../facts.js'
import { finding, firmware, hands, read, type Draft, type Evidence, type Finding } from '../finding.js'

const GIB4 = 2 ** 32

/** What a card shows that was not asked for more. */
const SMALL_BYTES = 256 * 1024 ** 2

/** The window to each GPU's memory (NVIDIA: BAR1): as large as the memory, or could it be. */
export function checkWindows(facts: Facts): Finding[] {
  return facts.machine.gpus
    .filter(({ vendor }) => vendor === 'NVIDIA')
    .flatMap((gpu) => checkGpu(facts, gpu))
    .map((draft) => finding('windows', draft))
}

function checkGpu(facts: Facts, gpu: Gpu): Draft[] {
  const { address, window } = gpu
  const subjects = [address]
  if (!isKnown(window))
    return [
      {
        id: 'window-unknown',
        severity: 'unknown',
        subjects,
        title: `GPU ${address}: the window to its memory (BAR1) is not known`,
        cause: 'A BAR that firmware found no room for is "can\'t assign; no space" in the kernel log.',
        evidence: [read(sysfs(address, 'resource'), window.unknown)],
        closes: ['tier2-dma-buf', 'tier2-static-bar1'],
      },
    ]
  const { sizeBytes } = window
  const evidence = [read(sysfs(address, 'resource'), `BAR ${window.bar}: ${formatBytes(sizeBytes)}`), sizesOf(window)]
  const memory = memoryOf(facts, gpu)
  if (!isKnown(memory)) {
    if (sizeBytes <= SMALL_BYTES) return [{ ...small(facts, gpu, window, undefined), subjects, evidence }]
    return [
      {
        id: 'window-against-unknown',
        severity: 'unknown',
        subjects,
        title: `GPU ${address}: BAR1 is ${formatBytes(sizeBytes)}; how much memory it has is not known`,
        evidence: [...evidence, read('memory of the GPU', memory.unknown)],
        closes: ['tier2-static-bar1'],
      },
    ]
  }
  if (sizeBytes >= memory)
    return [
      {
        id: 'window-whole',
        severity: 'ok',
        subjects,
        title: `GPU ${address}: BAR1 (${formatBytes(sizeBytes)}) holds all of its ${formatBytes(memory)}`,
        evidence,
        opens: ['tier2-static-bar1'],
      },
    ]
  return [{ ...small(facts, gpu, window, memory), subjects, evidence }]
}

function sizesOf({ sizesBytes }: GpuWindow): Evidence {
  if (!isKnown(sizesBytes)) return read('Resizable BAR', sizesBytes.unknown)
  if (sizesBytes === undefined) return read('Resizable BAR', 'the GPU has no such capability')
  return read('Resizable BAR offers', sizesBytes.map(formatBytes).join(', '))
}

/** The list of the capability decides, not the age of the firmware: some cards offer 256 MiB whatever is enabled. */
/** @param memoryBytes undefined where it is not known: no GPU from Turing on has as little as such a window shows. */
function small(facts: Facts, { address }: Gpu, window: GpuWindow, memoryBytes: number | undefined): Draft {
  const { machine } = facts
  const { sizeBytes, sizesBytes } = window
  const all = memoryBytes === undefined ? 'memory' : formatBytes(memoryBytes)
  const title = `GPU ${address}: BAR1 shows ${formatBytes(sizeBytes)} of its ${all}`
  const largest = (valueOf(sizesBytes) ?? []).reduce((most, each) => Math.max(most, each), 0)
  const draft = {
    id: 'window-small',
    severity: 'problem',
    title: `${title}, at a time`,
    closes: ['tier2-static-bar1'],
  } as const satisfies Draft
  if (!isKnown(sizesBytes))
    return {
      ...draft,
      cause: 'Which sizes the card offers is in its configuration space, which could not be read.',
      steps: [firmwareSwitch(machine, 'above-4g'), firmwareSwitch(machine, 'resizable-bar')],
    }
  if (largest < (memoryBytes ?? SMALL_BYTES + 1))
    return {
      ...draft,
      cause: `The card's firmware offers ${largest === 0 ? 'no other size' : `${formatBytes(largest)} at most`}, whatever the board does.`,
      steps: [
        hands("a VBIOS with Resizable BAR from the card's maker, where there is one: RTX 3060 to 3090 had updates"),
      ],
    }
  if (machine.virtualisation.hypervisor !== undefined)
    return {
      ...draft,
      cause: 'The card offers a window for all of it, and the hypervisor has not given it one.',
      steps: [
        hands('have the hypervisor give the GPU its whole window: a large 64-bit hole, and Resizable BAR on the host'),
      ],
    }
  const isBelow4g = window.address < GIB4
  const needs4g = isBelow4g ? [firmwareSwitch(machine, 'above-4g')] : []
  return {
    ...draft,
    cause: isBelow4g
      ? 'The card offers a window for all of it; firmware has put it below 4 GiB, where there is no room for that.'
      : 'The card offers a window for all of it, and firmware did not ask for it.',
    steps: [
      ...needs4g,
      firmwareSwitch(machine, 'resizable-bar'),
      ...(machine.firmware.isEfi ? [] : [firmware('and "CSM" (legacy boot) off: Resizable BAR needs UEFI')]),
    ],
  }
}
