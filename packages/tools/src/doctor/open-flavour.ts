import { valueOf } from '../machine/known.js'
import { familyOf } from './advice.js'
import type { Facts } from './facts.js'
import { command, hands, type Step } from './finding.js'

/** The branch that is advised where none is installed that says otherwise. */
const BRANCH = 580

/**
 * Installs the open flavour of NVIDIA's driver, by this distribution's own packages. Both flavours have the same versions,
 * so that nothing else changes. @param which 'newer' where the branch that runs is too old itself.
 */
export function openFlavour(facts: Facts, which: 'same' | 'newer' = 'same'): Step[] {
  const running = valueOf(facts.nvidia.running)
  const version = running === undefined ? undefined : valueOf(running.version)
  const own = version === undefined ? BRANCH : Number.parseInt(version, 10)
  const branch = which === 'newer' ? Math.max(own, BRANCH) : own
  switch (familyOf(facts.machine)) {
    case 'ubuntu':
      return [command(`sudo apt install nvidia-driver-${branch}-open`), RESTART]
    case 'debian':
      return [command('sudo apt install nvidia-open-kernel-dkms'), RESTART]
    case 'arch':
      return [command('sudo pacman -S nvidia-open-dkms'), RESTART]
    case 'fedora':
      return [
        hands("install akmod-nvidia-open (RPM Fusion), or nvidia-driver:open-dkms of NVIDIA's repository"),
        RESTART,
      ]
    case 'suse':
      return [hands('install nvidia-open-driver-G06-signed-kmp-default'), RESTART]
    case 'nixos':
      return [hands('set hardware.nvidia.open = true;, then'), command('sudo nixos-rebuild boot && sudo reboot')]
    case 'other':
      return [hands("install NVIDIA's driver with its open kernel modules (nvidia-installer: -M=open)"), RESTART]
  }
}

const RESTART = command('sudo reboot')
