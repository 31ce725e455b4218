import { isKnown, valueOf } from '../../machine/known.js'
import type { Gpu, GpuWindow } from '../../machine/machine.js'
import { formatBytes } from '../../terminal/units.js'
import { firmwareSwitch } from '../advice.js'
import { memoryOf, sysfs, type Facts } from '../facts.js'
import { finding, firmware, hands, read, type Draft, type Evidence, type Finding } from '../finding.js'

const GIB4 = 2 ** 32

/** BAR1 size of a card without Resizable BAR. */
const SMALL_BYTES = 256 * 1024 ** 2

/** Checks the window to each GPU's memory (NVIDIA: BAR1): whether it covers the memory, or could. */
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
        title: `GPU ${address}: its memory window (BAR1) is unknown`,
        cause: 'If firmware found no room for it, the kernel log has "can\'t assign; no space".',
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
        title: `GPU ${address}: BAR1 is ${formatBytes(sizeBytes)}; its memory size is unknown`,
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
        title: `GPU ${address}: BAR1 (${formatBytes(sizeBytes)}) covers all of its ${formatBytes(memory)}`,
        evidence,
        opens: ['tier2-static-bar1'],
      },
    ]
  return [{ ...small(facts, gpu, window, memory), subjects, evidence }]
}

function sizesOf({ sizesBytes }: GpuWindow): Evidence {
  if (!isKnown(sizesBytes)) return read('Resizable BAR', sizesBytes.unknown)
  if (sizesBytes === undefined) return read('Resizable BAR', 'not supported by the GPU')
  return read('Resizable BAR offers', sizesBytes.map(formatBytes).join(', '))
}

/**
 * Decides by the sizes in the capability, not by the age of the firmware: some cards offer 256 MiB whatever is enabled.
 * @param memoryBytes undefined if unknown. All GPUs since Turing have more than such a window covers.
 */
function small(facts: Facts, { address }: Gpu, window: GpuWindow, memoryBytes: number | undefined): Draft {
  const { machine } = facts
  const { sizeBytes, sizesBytes } = window
  const all = memoryBytes === undefined ? 'memory' : formatBytes(memoryBytes)
  const title = `GPU ${address}: BAR1 covers ${formatBytes(sizeBytes)} of its ${all}`
  const largest = (valueOf(sizesBytes) ?? []).reduce((max, each) => Math.max(max, each), 0)
  const draft = {
    id: 'window-small',
    severity: 'problem',
    title,
    closes: ['tier2-static-bar1'],
  } as const satisfies Draft
  if (!isKnown(sizesBytes))
    return {
      ...draft,
      cause: 'The sizes that the card supports are in its configuration space, which could not be read.',
      steps: [firmwareSwitch(machine, 'above-4g'), firmwareSwitch(machine, 'resizable-bar')],
    }
  if (largest < (memoryBytes ?? SMALL_BYTES + 1))
    return {
      ...draft,
      cause: `The card supports ${largest === 0 ? 'no other size' : `at most ${formatBytes(largest)}`}, whatever the board does.`,
      steps: [
        hands("install a VBIOS with Resizable BAR from the card's maker, if available (RTX 3060 to 3090 had updates)"),
      ],
    }
  if (machine.virtualisation.hypervisor !== undefined)
    return {
      ...draft,
      cause: 'The card supports a window for all of it, but the hypervisor has not assigned one.',
      steps: [hands('configure the hypervisor: a large 64-bit hole, and Resizable BAR on the host')],
    }
  const isBelow4g = window.address < GIB4
  const needs4g = isBelow4g ? [firmwareSwitch(machine, 'above-4g')] : []
  return {
    ...draft,
    cause: isBelow4g
      ? 'The card supports a window for all of it; firmware has placed it below 4 GiB, where there is no room.'
      : 'The card supports a window for all of it, but firmware did not enable it.',
    steps: [
      ...needs4g,
      firmwareSwitch(machine, 'resizable-bar'),
      ...(machine.firmware.isEfi ? [] : [firmware('and disable "CSM" (legacy boot): Resizable BAR requires UEFI')]),
    ],
  }
}
