import { isKnown, valueOf } from '../../machine/known.js'
import { formatBytes } from '../../terminal/units.js'
import type { Facts } from '../facts.js'
import { finding, hands, read, type Draft, type Finding } from '../finding.js'

/** Checks the configuration and restrictions of the running kernel. */
export function checkKernel(facts: Facts): Finding[] {
  // All of it matters only for using a drive.
  if (facts.machine.drives.length === 0) return []
  return [...config(facts), ...lockdown(facts), ...secureBoot(facts), ...memory(facts)].map((draft) =>
    finding('kernel', draft),
  )
}

/** Options that enable or disable routes: the meaning of y or m, and the meaning of n. */
const OPTIONS: readonly (readonly [name: string, on: string, off: string])[] = [
  ['VFIO_NOIOMMU', 'vfio works without an IOMMU', 'vfio requires an IOMMU'],
  [
    'IO_STRICT_DEVMEM',
    'BARs claimed by a driver cannot be mapped by user space',
    'BARs claimed by a driver can be mapped by root',
  ],
  [
    'PCI_P2PDMA',
    'the kernel has a peer-to-peer interface (not needed)',
    'the kernel has no peer-to-peer interface (not needed)',
  ],
  ['DMA_SHARED_BUFFER', 'dma-buf is available, which tier 2 uses for GPU memory', 'dma-buf is not available'],
]

function config({ machine: { kernel } }: Facts): Draft[] {
  if (!isKnown(kernel.config))
    return [
      {
        id: 'kernel-config-unknown',
        severity: 'unknown',
        title: 'The configuration of the running kernel is unknown',
        evidence: [read('/proc/config.gz, /boot/config-*', kernel.config.unknown)],
      },
    ]
  const { source, options } = kernel.config
  return OPTIONS.flatMap(([name, on, off]): Draft[] => {
    const value = options[name]
    if (value === undefined) return []
    if (name === 'DMA_SHARED_BUFFER' && value === 'n') return [withoutDmaBuf(source)]
    return [
      {
        id: `config-${name.toLowerCase().replaceAll('_', '-')}`,
        severity: 'ok',
        title: `${name}=${value}: ${value === 'n' ? off : on}`,
        evidence: [read(source, `CONFIG_${name}=${value}`)],
      },
    ]
  })
}

function withoutDmaBuf(source: string): Draft {
  return {
    id: 'config-no-dma-buf',
    severity: 'problem',
    title: 'The kernel is built without dma-buf (DMA_SHARED_BUFFER): GPU memory cannot be mapped for a drive',
    evidence: [read(source, 'CONFIG_DMA_SHARED_BUFFER=n')],
    steps: [hands("use the distribution's kernel, which has it")],
    closes: ['tier2-dma-buf'],
  }
}

function lockdown({ machine: { kernel } }: Facts): Draft[] {
  const level = valueOf(kernel.lockdown)
  if (level === undefined || level === 'none') return []
  return [
    {
      id: 'lockdown',
      severity: 'note',
      title: `The kernel is locked down (${level}): register access by /sys and unsigned modules are blocked`,
      cause: 'vfio with an IOMMU works, and so do modules signed with an enrolled key.',
      evidence: [read('/sys/kernel/security/lockdown', level)],
    },
  ]
}

function secureBoot({ machine: { firmware } }: Facts): Draft[] {
  if (valueOf(firmware.secureBoot) !== true) return []
  return [
    {
      id: 'secure-boot',
      severity: 'note',
      title: 'Secure Boot is on: modules must be signed with an enrolled key',
      cause: 'DKMS signs modules with a key of this machine, which must be enrolled once.',
      evidence: [read('/sys/firmware/efi/efivars/SecureBoot-*', 'enabled')],
    },
  ]
}

/** Locked memory that a stream needs at least. Two layers of a 70B model exceed 1 GiB; a small model fits. */
const MIN_LOCKED_BYTES = 64 * 1024 * 1024

function memory({ machine: { memory }, process }: Facts): Draft[] {
  const found: Draft[] = []
  const limit = valueOf(memory.lockLimit)
  // Root has CAP_IPC_LOCK, to which the limit does not apply.
  if (
    process?.isRoot === false &&
    limit !== undefined &&
    limit.softBytes !== 'unlimited' &&
    limit.softBytes < MIN_LOCKED_BYTES
  )
    found.push({
      id: 'lock-limit',
      severity: 'note',
      title: `Other users than root can lock only ${formatBytes(limit.softBytes)} of memory, and DMA memory is locked`,
      evidence: [read('RLIMIT_MEMLOCK', limit.softBytes)],
      steps: [hands('run as root, or raise the limit: ulimit -l unlimited; LimitMEMLOCK=infinity in a systemd unit')],
    })
  const total = valueOf(memory.totalBytes)
  if (total !== undefined)
    found.push({
      id: 'memory',
      severity: 'ok',
      title: `${formatBytes(total)} of memory`,
      evidence: [read('/proc/meminfo', `MemTotal: ${total / 1024} kB`)],
    })
  return found
}
