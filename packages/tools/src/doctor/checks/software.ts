import { isKnown, valueOf } from '../../machine/known.js'
import type { Machine } from '../../machine/machine.js'
import { installHeaders } from '../advice.js'
import type { Facts } from '../facts.js'
import { command, finding, hands, read, type Draft, type Finding, type Step } from '../finding.js'

/**
 * Checks our native code: the addon of `@gpunvme/cuda-native`, and the kernel module of kmod/, which some routes
 * require.
 */
export function checkSoftware(facts: Facts): Finding[] {
  // Both are useless without a drive.
  if (facts.machine.drives.length === 0) return []
  return [...addon(facts), ...kmod(facts)].map((draft) => finding('software', draft))
}

function addon({ process }: Facts): Draft[] {
  if (process === undefined) return []
  if (process.addon.isLoaded)
    return [
      {
        id: 'addon',
        severity: 'ok',
        title: 'The addon gpunvme_host is loaded',
        evidence: [read('loadHardwareHost()', 'loaded')],
        opens: ['memory'],
      },
    ]
  return [
    {
      id: 'addon-missing',
      severity: 'blocker',
      title: 'The native addon gpunvme_host does not load: real drives cannot be used',
      evidence: process.addon.reasons.map((reason) => read('addon', reason)),
      steps: [hands(process.addon.next)],
      closes: ['memory'],
    },
  ]
}

/** State of our kernel module, and the steps that install it. */
export interface KmodState {
  readonly isLoaded: boolean
  /** Steps that load it; empty if it is loaded. */
  readonly steps: readonly Step[]
}

export function kmodState({ machine }: Facts): KmodState {
  const { loaded, onDisk } = machine.modules
  if (valueOf(loaded)?.some(({ name }) => name === 'gpunvme') === true) return { isLoaded: true, steps: [] }
  const isOnDisk = isKnown(onDisk) && onDisk.includes('gpunvme')
  return { isLoaded: false, steps: isOnDisk ? [LOAD] : [...build(machine), LOAD] }
}

const LOAD = command('sudo modprobe gpunvme')

function build(machine: Machine): Step[] {
  const isSigned = valueOf(machine.firmware.secureBoot) === true
  const [major = 0, minor = 0] = (valueOf(machine.kernel.release) ?? '').split('.').map(Number)
  const isOld = major > 0 && (major < 6 || (major === 6 && minor < 1))
  return [
    ...(isOld ? [hands('it supports Linux 6.1 to 7.2, not older kernels')] : []),
    installHeaders(machine),
    hands("then, in gpunvme's repository (no npm package contains it):"),
    command('sudo make -C kmod dkms-tree TO=/usr/src/gpunvme-1.0.0 && sudo dkms install gpunvme/1.0.0'),
    ...(isSigned
      ? [
          command('sudo mokutil --import /var/lib/dkms/mok.pub'),
          hands('reboot, and confirm "Enroll MOK": Secure Boot loads no other module'),
        ]
      : []),
  ]
}

function kmod(facts: Facts): Draft[] {
  const { machine } = facts
  const { isLoaded, steps } = kmodState(facts)
  if (!isLoaded && machine.gpus.every(({ vendor }) => vendor !== 'NVIDIA')) return []
  if (isLoaded)
    return [
      {
        id: 'kmod',
        severity: 'ok',
        title: 'The module gpunvme is loaded',
        evidence: [read('/proc/modules', 'gpunvme')],
        opens: ['tier2-dma-buf'],
      },
    ]
  if (!isKnown(machine.modules.loaded))
    return [
      {
        id: 'kmod-unknown',
        severity: 'unknown',
        title: 'Unknown whether the module gpunvme is loaded',
        evidence: [read('/proc/modules', machine.modules.loaded.unknown)],
        closes: ['tier2-dma-buf'],
      },
    ]
  return [
    {
      id: 'kmod-absent',
      severity: 'note',
      title: 'The module gpunvme, required for GPU memory by dma-buf, is not loaded',
      evidence: [read('/proc/modules', 'no gpunvme')],
      steps,
      closes: ['tier2-dma-buf'],
    },
  ]
}
