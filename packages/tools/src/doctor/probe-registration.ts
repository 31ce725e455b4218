import { isKnownVersion, ResourceManager, RmError, statusName, type RmGpu } from '@gpunvme/cuda-native/rm'
import type { HardwareHost } from '@gpunvme/nvme-spec/transport'
import { closeSync, fstatSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { functionAt } from '../machine/index.js'
import { valueOf } from '../machine/known.js'
import { gpunvme, sysfs, type Facts } from './facts.js'
import { command, finding, hands, instead, read, type Draft, type Finding } from './finding.js'

/** Drivers that do not use a drive's registers themselves. */
const LEAVE_ALONE = [undefined, 'vfio-pci', 'pci-stub', 'uio_pci_generic']

/** Part of every answer. */
const CAVEAT =
  'This tests the kernel module only and yields no mapping for GPU kernels. It was tested on stand-ins, on no GPU.'

/**
 * Asks NVIDIA's kernel module, without libcuda, whether a GPU may access a drive's registers: for each GPU with each
 * drive that has no kernel driver of its own. Maps the registers, but does not read or write them.
 */
export function probeRegistration(facts: Facts, host: RmHostWithMap, only: readonly string[]): Finding[] {
  const isAsked = ({ address }: { readonly address: string }) => only.length === 0 || only.includes(address)
  const gpus = facts.nvidia.gpus.filter(isAsked)
  const drives = facts.machine.drives.filter(isAsked).filter(({ address }) => {
    return LEAVE_ALONE.includes(functionAt(facts.machine, address)?.driver)
  })
  const [first] = facts.machine.drives.filter(isAsked)
  if (gpus.length === 0) return [draft({ ...none, title: '--rm: no NVIDIA GPU' })]
  if (drives.length === 0)
    return [
      draft({
        ...none,
        title: '--rm: no drive is bound to user space, and the kernel keeps registers of its drives',
        steps: first === undefined ? [] : [command(gpunvme(facts, `bind ${first.address}`, 'root'))],
      }),
    ]
  const running = valueOf(facts.nvidia.running)
  const version = running === undefined ? undefined : valueOf(running.version)
  if (version === undefined || !isKnownVersion(version))
    return [
      draft({
        ...none,
        severity: 'unknown',
        title: `--rm: not possible for driver ${version ?? 'of unknown version'}: structures are known from 525 to 595`,
        cause: 'The kernel module would misread structures of another version.',
      }),
    ]
  return gpus.flatMap((gpu) =>
    drives.map(({ address }) => draft(probePair(facts, host, version, { ...gpu, drive: address }))),
  )
}

export type RmHostWithMap = Pick<HardwareHost, 'ioctl' | 'allocate' | 'map'>

const none = { id: 'rm-not-asked', severity: 'note' } as const

function draft(content: Draft): Finding {
  return finding('nvidia', content)
}

interface Asked {
  readonly address: string
  readonly minor: number | undefined
  readonly drive: string
}

function probePair(facts: Facts, host: RmHostWithMap, version: string, { address, minor, drive }: Asked): Draft {
  const subjects = [address, drive]
  if (minor === undefined)
    return { ...none, subjects, severity: 'unknown', title: `--rm: GPU ${address} has no node below /dev` }
  try {
    register(facts.machine.root, host, version, { bdf: address, minor }, drive)
    return {
      id: 'rm-registers',
      severity: 'ok',
      subjects,
      title: `--rm: NVIDIA's module registered the registers of ${drive} for GPU ${address}`,
      cause: CAVEAT,
      evidence: [read('NV_ESC_RM_ALLOC_MEMORY, class 0x71', 'NV_OK (0x0)')],
    }
  } catch (error) {
    return { ...refused(error, facts, drive), subjects }
  }
}

/** @throws RmError, Error with `code` */
function register(root: string, host: RmHostWithMap, version: string, gpu: RmGpu, drive: string): void {
  const fd = openSync(join(root, sysfs(drive, 'resource0')), 'r+')
  try {
    const lengthBytes = fstatSync(fd).size
    const registers = host.map(fd, 0, lengthBytes, 'read-write')
    try {
      const manager = new ResourceManager(host, root, version, gpu)
      try {
        manager.registerRegisters(registers.address, lengthBytes)
      } finally {
        manager.close()
      }
    } finally {
      registers.unmap()
    }
  } finally {
    closeSync(fd)
  }
}

function refused(error: unknown, facts: Facts, drive: string): Draft {
  if (error instanceof RmError) {
    const { request, status } = error
    return {
      id: 'rm-refused',
      severity: request === 'registers' ? 'problem' : 'unknown',
      title:
        request === 'registers'
          ? `--rm: NVIDIA's module rejected the registers of ${drive}: ${statusName(status)}`
          : `--rm: NVIDIA's module failed before the registration: ${request}, ${statusName(status)}`,
      cause: `${MEANINGS.get(status) ?? 'Its meaning here is unknown.'} ${CAVEAT}`,
      evidence: [read('NV_STATUS', statusName(status))],
      steps: status === 0x1e ? [command(gpunvme(facts, 'driver'))] : [command('sudo dmesg | grep -i nvrm')],
    }
  }
  const { code, message } = error as NodeJS.ErrnoException
  if (code === undefined) throw error
  return {
    ...none,
    severity: 'unknown',
    title: `--rm: the kernel refused: ${code}`,
    evidence: [read('', message)],
    steps: code === 'EACCES' || code === 'EPERM' ? [hands('run it as root')] : [instead('sudo dmesg | tail')],
  }
}

/** Meanings of a rejection of registers, as read in the sources of the open flavour. */
const MEANINGS = new Map<number, string>([
  [
    0x1e,
    'The module found no pages behind the mapping: its PFN lookup does not work, or the range is in a BAR of a GPU.',
  ],
  [0x1b, 'Only root may do this unless the registry key PeerMappingOverride is 1.'],
  [0x29, 'It requires other flags than those of 525 to 595.'],
])
