import type { CommandStep } from '../../command-line/next-step.js'
import { isKnown, valueOf } from '../../machine/known.js'
import { plural } from '../../terminal/units.js'
import { gpunvme, sysfs, type Facts } from '../facts.js'
import { command, finding, hands, instead, read, type Draft, type Finding } from '../finding.js'

const DOCTOR: CommandStep = { command: ['doctor'], isElsewhere: true }
const SAVE: CommandStep = { command: ['doctor', '--save', 'DIR'], isElsewhere: true }

/** Checks whether the machine has a GPU and a drive, and whether all of it is visible. */
export function checkSystem(facts: Facts): Finding[] {
  const { hypervisor } = facts.machine.virtualisation
  // Under WSL, Windows hides the missing devices.
  const drafts =
    hypervisor !== undefined && /WSL/.test(hypervisor.name)
      ? [windows(hypervisor.evidence)]
      : [...whatIsSeen(facts), ...checkGpus(facts), ...drives(facts), ...surroundings(facts)]
  return drafts.map((draft) => finding('system', draft))
}

function whatIsSeen(facts: Facts): Draft[] {
  const { machine, process } = facts
  const found: Draft[] = []
  if (machine.functions.length === 0) {
    found.push({
      id: 'pci-unseen',
      severity: 'unknown',
      title: 'No PCI functions found: GPUs and drives are not visible',
      cause: 'This is normal in containers without /sys and in some virtual machines.',
      evidence: [read('/sys/bus/pci/devices', 'empty, or not there')],
      steps: [hands({ words: ['run ', DOCTOR, ' on the host'] })],
      closes: ['memory'],
    })
  }
  const hidden = machine.functions.find(({ packets }) => !isKnown(packets) && packets.unknown.startsWith('needs root'))
  if (process?.isRoot === false || hidden !== undefined) {
    found.push({
      id: 'not-root',
      severity: 'unknown',
      title: 'Not root: packet sizes, ACS, resizable BARs and recorded errors are unknown',
      cause: 'Other users see 64 bytes of configuration space, and only their own processes.',
      evidence:
        hidden === undefined || isKnown(hidden.packets)
          ? []
          : [read(sysfs(hidden.address, 'config'), hidden.packets.unknown)],
      steps: [
        process === undefined
          ? hands({ words: ['save it as root: ', { ...SAVE, asRoot: true }] })
          : command(gpunvme(facts, 'doctor', 'root')),
      ],
    })
  }
  return found
}

function checkGpus({ machine }: Facts): Draft[] {
  const gpus = machine.gpus.filter(({ isIntegrated }) => !isIntegrated)
  if (gpus.length === 0 && machine.functions.length > 0) {
    return [
      {
        id: 'no-gpu',
        severity: 'note',
        title: machine.drives.length === 0 ? 'No CUDA GPU' : 'No CUDA GPU: models can be streamed to host memory only',
        evidence: [read('/sys/bus/pci/devices', `${plural(machine.functions.length, 'function')}, none a GPU`)],
      },
    ]
  }
  return gpus.flatMap(({ address, vendor, model }): Draft[] => {
    const name = valueOf(model) ?? `${vendor} GPU`
    const evidence = [read(`/sys/bus/pci/devices/${address}/vendor`, vendor)]
    if (vendor === 'NVIDIA')
      return [{ id: 'gpu', severity: 'ok', subjects: [address], title: `${name} at ${address}`, evidence }]
    return [
      {
        id: 'gpu-not-nvidia',
        severity: 'note',
        subjects: [address],
        title: `${name} at ${address} cannot be used: only CUDA is supported`,
        evidence,
        steps: [instead('stream to host memory with the engines host and cpu-kernel')],
        closes: ['tier1'],
      },
    ]
  })
}

function drives({ machine }: Facts): Draft[] {
  if (machine.drives.length > 0 || machine.functions.length === 0) return []
  const others = machine.otherDisks.map(({ name }) => name)
  return [
    {
      id: 'no-drive',
      severity: 'blocker',
      title: 'No NVMe drive on PCI',
      cause: 'gpunvme requires an NVMe drive; SATA, USB and virtual disks do not work.',
      evidence: [
        read('/sys/bus/pci/devices', 'no function of class 010802h'),
        ...(others.length > 0 ? [read('/sys/block', `other disks: ${others.join(', ')}`)] : []),
      ],
      steps: [instead({ command: ['demo'], note: 'which simulates a drive' })],
      closes: ['memory'],
    },
  ]
}

function windows(evidence: string): Draft {
  return {
    id: 'wsl',
    severity: 'blocker',
    title: 'Under WSL, Windows does not give Linux access to NVMe controllers',
    cause: 'Only the GPU is visible here. Drives need Linux on the host.',
    evidence: [read('', evidence)],
    steps: [instead({ words: ['Linux on the host; here, ', { command: ['demo'] }] })],
    closes: ['memory'],
  }
}

function surroundings({ machine: { virtualisation } }: Facts): Draft[] {
  const { hypervisor, container, isSysReadOnly } = virtualisation
  const found: Draft[] = []
  if (hypervisor !== undefined) {
    found.push({
      id: 'virtual-machine',
      severity: 'note',
      title: `A virtual machine (${hypervisor.name}): ports, links and IOMMU are emulated`,
      cause: "Peer-to-peer traffic between GPU and SSD depends on the host's board, which is not visible here.",
      evidence: [read('', hypervisor.evidence)],
    })
  }
  if (container !== undefined) {
    const isReadOnly = isKnown(isSysReadOnly) && isSysReadOnly
    found.push({
      id: isReadOnly ? 'container-read-only' : 'container',
      severity: isReadOnly ? 'problem' : 'note',
      title: isReadOnly
        ? `A container (${container.name}) with read-only /sys: drives cannot be bound from here`
        : `A container (${container.name}): users of a drive outside of it may be invisible`,
      cause: 'Binding a drive requires writes to /sys, and only the host knows all of its users.',
      evidence: [read('', container.evidence)],
      steps: [hands("run gpunvme bind on the host, and pass the drive's device node to the container")],
      closes: isReadOnly ? ['memory'] : [],
    })
  }
  return found
}
