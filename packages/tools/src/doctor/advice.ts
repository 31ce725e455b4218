import { isKnown } from '../machine/known.js'
import type { Board, Distribution, Machine } from '../machine/machine.js'
import { command, firmware, hands, type Step } from './finding.js'

type Family = 'debian' | 'ubuntu' | 'fedora' | 'arch' | 'suse' | 'nixos' | 'other'

/** Returns the family whose commands a distribution has: by its own ID first, then by those it resembles. */
export function familyOf(machine: Machine): Family {
  const { distribution } = machine
  if (!isKnown(distribution)) return 'other'
  for (const id of [distribution.id, ...distribution.like]) {
    const family = FAMILIES.get(id)
    if (family !== undefined) return family
  }
  return 'other'
}

const FAMILIES = new Map<string, Family>([
  ['debian', 'debian'],
  ['ubuntu', 'ubuntu'],
  ['fedora', 'fedora'],
  ['rhel', 'fedora'],
  ['centos', 'fedora'],
  ['arch', 'arch'],
  ['suse', 'suse'],
  ['opensuse', 'suse'],
  ['nixos', 'nixos'],
])

/** Returns the name of the distribution for sentences: 'Ubuntu 25.10'. */
export function nameOf({ distribution }: Machine): string {
  return isKnown(distribution) ? shortName(distribution) : 'this distribution'
}

function shortName({ name }: Distribution): string {
  return name.replace(/ \(.*\)$/, '')
}

/** Returns the steps that add or remove a kernel parameter permanently, and restart the machine. */
export function kernelParameter(machine: Machine, change: { add?: string; remove?: string }): Step[] {
  const { add, remove } = change
  const words = [
    ...(remove === undefined ? [] : [`take ${remove} out of`]),
    ...(add === undefined ? [] : [`${remove === undefined ? 'add' : 'and add'} ${add} to`]),
  ].join(' ')
  switch (familyOf(machine)) {
    case 'debian':
    case 'ubuntu':
      return [
        hands(`${words} GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub, then`),
        command('sudo update-grub && sudo reboot'),
      ]
    case 'fedora': {
      const changes = [
        ...(remove === undefined ? [] : [`--remove-args=${remove}`]),
        ...(add === undefined ? [] : [`--args=${add}`]),
      ]
      return [command(`sudo grubby --update-kernel=ALL ${changes.join(' ')} && sudo reboot`)]
    }
    case 'suse':
      return [
        hands(`${words} GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub, then`),
        command('sudo grub2-mkconfig -o /boot/grub2/grub.cfg && sudo reboot'),
      ]
    case 'nixos':
      return [hands(`${words} boot.kernelParams, then`), command('sudo nixos-rebuild boot && sudo reboot')]
    default:
      return [hands(`${words} the kernel's command line, in the configuration of your boot loader, and reboot`)]
  }
}

/** Returns the step that rebuilds the initramfs for all kernels, so that /etc/modprobe.d applies at boot. */
export function updateInitramfs(machine: Machine): Step {
  switch (familyOf(machine)) {
    case 'debian':
    case 'ubuntu':
      return command('sudo update-initramfs -u -k all')
    case 'fedora':
    case 'suse':
      return command('sudo dracut --force --regenerate-all')
    case 'arch':
      return command('sudo mkinitcpio -P')
    default:
      return hands('rebuild the initramfs')
  }
}

/** Returns the step that installs a C compiler and the headers of the running kernel. */
export function installHeaders(machine: Machine): Step {
  switch (familyOf(machine)) {
    case 'debian':
    case 'ubuntu':
      return command('sudo apt install build-essential dkms linux-headers-$(uname -r)')
    case 'fedora':
      return command('sudo dnf install gcc make dkms kernel-devel-$(uname -r)')
    case 'arch':
      return command('sudo pacman -S --needed base-devel dkms linux-headers')
    case 'suse':
      return command('sudo zypper install gcc make dkms kernel-default-devel')
    default:
      return hands('install a C compiler, make, dkms and the headers of the running kernel')
  }
}

type FirmwareSwitch = 'iommu' | 'above-4g' | 'resizable-bar'

/**
 * Returns the step that enables a firmware setting. Menus differ by firmware version; the quoted words are the ones to
 * look for.
 */
export function firmwareSwitch({ board, cpu }: Machine, which: FirmwareSwitch): Step {
  const isIntel = isKnown(cpu.vendor) && cpu.vendor === 'Intel'
  const place = PLACES.find(({ vendor }) => vendor.test(board.vendor ?? ''))?.places[which]
  const words: Record<FirmwareSwitch, string> = {
    iommu: isIntel ? '"VT-d" (or "Intel Virtualization Technology for Directed I/O")' : '"IOMMU"',
    'above-4g': '"Above 4G Decoding"',
    'resizable-bar': '"Re-Size BAR Support" (or "Resizable BAR", "Smart Access Memory")',
  }
  const where = place === undefined ? '' : `, usually under ${place}`
  return firmware(`firmware setup${boardName(board)}: set ${words[which]} to Enabled${where}`)
}

function boardName({ name }: Board): string {
  return name === undefined ? '' : ` (${name})`
}

/** From the manuals of AM4, AM5 and LGA1700 boards. Firmware versions differ, hence "usually". */
const PLACES: readonly {
  readonly vendor: RegExp
  readonly places: Partial<Record<FirmwareSwitch, string>>
}[] = [
  {
    vendor: /asus/i,
    places: {
      iommu: 'Advanced > AMD CBS, or on Intel Advanced > System Agent Configuration',
      'above-4g': 'Advanced > PCI Subsystem Settings',
      'resizable-bar': 'Advanced > PCI Subsystem Settings',
    },
  },
  {
    vendor: /micro-star|msi/i,
    places: {
      iommu: 'OC > Advanced CPU Configuration > AMD CBS, or on Intel OC > CPU Features',
      'above-4g': 'Settings > Advanced > PCI Subsystem Settings',
      'resizable-bar': 'Settings > Advanced > PCI Subsystem Settings',
    },
  },
  {
    vendor: /gigabyte/i,
    places: {
      iommu: 'Settings > Miscellaneous, or Settings > AMD CBS',
      'above-4g': 'Settings > IO Ports',
      'resizable-bar': 'Settings > IO Ports',
    },
  },
  {
    vendor: /asrock/i,
    places: {
      iommu: 'Advanced > AMD CBS > NBIO, or on Intel Advanced > Chipset Configuration',
      'above-4g': 'Advanced > PCI Configuration',
      'resizable-bar': 'Advanced > PCI Configuration',
    },
  },
  {
    vendor: /supermicro/i,
    places: {
      iommu: 'Advanced > NB Configuration, or on Intel Advanced > Chipset Configuration > IIO',
      'above-4g': 'Advanced > PCIe/PCI/PnP Configuration',
      'resizable-bar': 'Advanced > PCIe/PCI/PnP Configuration',
    },
  },
]
