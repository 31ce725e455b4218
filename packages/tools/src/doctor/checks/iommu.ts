import { valueOf } from '../../machine/known.js'
import type { Machine } from '../../machine/machine.js'
import { firmwareSwitch, kernelParameter } from '../advice.js'
import type { Facts } from '../facts.js'
import { finding, hands, read, type Draft, type Finding, type Step } from '../finding.js'

/** Checks the IOMMU, which matters for safety, for the choice of a transport, and for addresses of GPU memory. */
export function checkIommu({ machine }: Facts): Finding[] {
  // The state of the IOMMU has no effect without a drive.
  if (machine.drives.length === 0) return []
  return byMode(machine).map((draft) => finding('iommu', draft))
}

function byMode(machine: Machine): Draft[] {
  const { mode, evidence: sentences, kind } = machine.iommu
  const evidence = sentences.slice(0, 3).map((sentence) => read('', sentence))
  const name = kind ?? 'IOMMU'
  switch (mode) {
    case 'off':
      return [{ ...off(machine), evidence }]
    case 'passthrough':
      return [
        {
          id: 'iommu-passthrough',
          severity: 'ok',
          title: `${name} is on, in passthrough mode by default`,
          evidence,
          opens: ['tier2-static-bar1'],
        },
      ]
    case 'translated':
    case 'mixed':
      return [
        {
          id: 'iommu',
          severity: 'ok',
          title: `${name} is on: a drive can access only memory mapped for it`,
          evidence,
          opens: ['tier2-static-bar1'],
        },
      ]
    case 'unknown':
      return [
        {
          id: 'iommu-unknown',
          severity: 'unknown',
          title: 'There are IOMMU groups of unknown mode',
          evidence,
          closes: ['tier2-static-bar1'],
        },
      ]
  }
}

function off(machine: Machine): Draft {
  return {
    id: 'iommu-off',
    severity: 'note',
    title: 'The IOMMU is off: a drive in user space can access all memory of this machine',
    cause: 'A wrong address overwrites arbitrary memory. An IOMMU prevents that, and vfio then needs no huge pages.',
    steps: turnOn(machine),
    opens: ['tier2-static-bar1'],
  }
}

/** Kernel parameters that turn the IOMMU off. */
const OFF_WORDS = ['iommu=off', 'amd_iommu=off', 'intel_iommu=off', 'iommu=0']

function turnOn(machine: Machine): Step[] {
  const { kernel, cpu, firmware, virtualisation } = machine
  if (virtualisation.hypervisor !== undefined) return [hands('configure a virtual IOMMU in the hypervisor')]
  const words = (valueOf(kernel.commandLine) ?? '').split(' ')
  const remove = OFF_WORDS.find((word) => words.includes(word))
  const isIntel = valueOf(cpu.vendor) === 'Intel'
  // Kernels built without INTEL_IOMMU_DEFAULT_ON need it for Intel's IOMMU; AMD's is on by default.
  const add = isIntel && !words.includes('intel_iommu=on') ? 'intel_iommu=on' : undefined
  const table = valueOf(firmware.iommuTable)
  return [
    ...(table === undefined ? [firmwareSwitch(machine, 'iommu')] : []),
    ...(remove === undefined && add === undefined
      ? []
      : kernelParameter(machine, { ...(remove !== undefined && { remove }), ...(add !== undefined && { add }) })),
  ]
}
