import { isKnown, valueOf } from '../../machine/known.js'
import { formatBytes } from '../../terminal/units.js'
import type { Facts } from '../facts.js'
import { finding, hands, read, type Draft, type Finding } from '../finding.js'

/** What the running kernel was built with and lets root do, as far as somebody has to know it. */
export function checkKernel(facts: Facts): Finding[] {
  // What is said here is said about driving one.
  if (facts.machine.drives.length === 0) return []
  return [...config(facts), ...lockdown(facts), ...secureBoot(facts), ...memory(facts)].map((draft) =>
    finding('kernel', draft),
  )
}

/** Options that decide which ways are open: what it means that one is built in or a module, and that it is not. */
const OPTIONS: readonly (readonly [name: string, on: string, off: string])[] = [
  ['VFIO_NOIOMMU', 'vfio can do without an IOMMU', 'vfio needs an IOMMU'],
  [
    'IO_STRICT_DEVMEM',
    'a BAR that a driver claims is closed to user space',
    'a BAR is open to root even while a driver claims it',
  ],
  [
    'PCI_P2PDMA',
    'the kernel has an interface for peer-to-peer, which nothing here needs',
    'the kernel has no interface for peer-to-peer, and nothing here needs it',
  ],
  ['DMA_SHARED_BUFFER', "there is dma-buf, by which tier 2 gets at a GPU's memory", 'there is no dma-buf'],
]

function config({ machine: { kernel } }: Facts): Draft[] {
  if (!isKnown(kernel.config))
    return [
      {
        id: 'kernel-config-unknown',
        severity: 'unknown',
        title: 'What the running kernel was built with is not known',
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
    title: 'The kernel is built without dma-buf (DMA_SHARED_BUFFER): no GPU memory can be handed over',
    evidence: [read(source, 'CONFIG_DMA_SHARED_BUFFER=n')],
    steps: [hands("a kernel of the distribution's own, which has it")],
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
      title: `The kernel is locked down (${level}): registers by /sys and unsigned modules are refused`,
      cause: 'Left are vfio with an IOMMU, and a module that is signed with an enrolled key.',
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
      title: 'Secure Boot is on: modules load if they are signed with a key that is enrolled',
      cause: 'DKMS signs what it builds with a key of this machine, which has to be enrolled once.',
      evidence: [read('/sys/firmware/efi/efivars/SecureBoot-*', 'enabled')],
    },
  ]
}

/** What a stream keeps locked at least: two layers of a 70B model are above 1 GiB, but a small one does with this. */
const LEAST_LOCKED_BYTES = 64 * 1024 * 1024

function memory({ machine: { memory }, process }: Facts): Draft[] {
  const found: Draft[] = []
  const limit = valueOf(memory.lockLimit)
  // Root has CAP_IPC_LOCK, to which the limit does not apply.
  if (
    process?.isRoot === false &&
    limit !== undefined &&
    limit.softBytes !== 'unlimited' &&
    limit.softBytes < LEAST_LOCKED_BYTES
  )
    found.push({
      id: 'lock-limit',
      severity: 'note',
      title: `Who is not root may lock ${formatBytes(limit.softBytes)} of memory, and what a drive writes to is locked`,
      evidence: [read('RLIMIT_MEMLOCK', limit.softBytes)],
      steps: [
        hands(
          'run as root, to whom it does not apply; or raise it: ulimit -l unlimited; LimitMEMLOCK=infinity in a systemd unit',
        ),
      ],
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
