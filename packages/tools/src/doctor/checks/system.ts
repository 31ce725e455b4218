import type { CommandStep } from '../../command-line/next-step.js'
import { isKnown, valueOf } from '../../machine/known.js'
import { plural } from '../../terminal/units.js'
import { gpunvme, sysfs, type Facts } from '../facts.js'
import { command, finding, hands, instead, read, type Draft, type Finding } from '../finding.js'

const DOCTOR: CommandStep = { command: ['doctor'], isElsewhere: true }
const SAVE: CommandStep = { command: ['doctor', '--save', 'DIR'], isElsewhere: true }

/** What the machine is: whether it has a GPU and a drive at all, and whether all of it can be seen from here. */
export function checkSystem(facts: Facts): Finding[] {
  const { hypervisor } = facts.machine.virtualisation
  // What is not there, is not there by Windows' leave.
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
      title: 'No PCI function is listed: neither GPUs nor drives can be seen from here',
      cause: 'Containers without /sys and some virtual machines are like this; the machine itself may have both.',
      evidence: [read('/sys/bus/pci/devices', 'empty, or not there')],
      steps: [hands({ words: ['run ', DOCTOR, ' on the machine itself'] })],
      closes: ['memory'],
    })
  }
  const hidden = machine.functions.find(({ packets }) => !isKnown(packets) && packets.unknown.startsWith('needs root'))
  if (process?.isRoot === false || hidden !== undefined) {
    found.push({
      id: 'not-root',
      severity: 'unknown',
      title: 'Read without root: packet sizes, ACS, resizable BARs and recorded errors are not known',
      cause: 'Of configuration space others are shown 64 bytes, and of processes only their own.',
      evidence:
        hidden === undefined || isKnown(hidden.packets)
          ? []
          : [read(sysfs(hidden.address, 'config'), hidden.packets.unknown)],
      steps: [
        process === undefined
          ? hands({ words: ['have it saved by root: ', { ...SAVE, asRoot: true }] })
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
        title:
          machine.drives.length === 0
            ? 'No GPU to compute with'
            : 'No GPU to compute with: models can be streamed to host memory, not further',
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
        title: `${name} at ${address} cannot be used: only CUDA is driven`,
        evidence,
        steps: [instead('stream to host memory, by the engines host and cpu-kernel')],
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
      cause: 'Only an NVMe drive has queues that a program can drive; SATA, USB and virtual disks have none.',
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
    title: 'WSL: Windows keeps drives and their registers to itself',
    cause: 'The GPU can be computed with here, but no NVMe controller is handed to Linux.',
    evidence: [read('', evidence)],
    steps: [instead({ words: ['Linux on the machine itself; here, ', { command: ['demo'] }] })],
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
      title: `A virtual machine (${hypervisor.name}): ports, links and IOMMU are what it is shown`,
      cause: 'Whether GPU and SSD reach each other is decided by the board below, which cannot be seen from here.',
      evidence: [read('', hypervisor.evidence)],
    })
  }
  if (container !== undefined) {
    const isReadOnly = isKnown(isSysReadOnly) && isSysReadOnly
    found.push({
      id: isReadOnly ? 'container-read-only' : 'container',
      severity: isReadOnly ? 'problem' : 'note',
      title: isReadOnly
        ? `A container (${container.name}) with /sys read-only: no drive can be taken over from here`
        : `A container (${container.name}): who uses a drive outside of it may not be seen`,
      cause: 'A drive is handed over by writing to /sys, and who uses it is known in the host alone.',
      evidence: [read('', container.evidence)],
      steps: [hands('run gpunvme on the host, and give the container the node that the drive has then')],
      closes: isReadOnly ? ['memory'] : [],
    })
  }
  return found
}
