import { valueOf } from '../machine/known.js'
import { familyOf } from './advice.js'
import type { Facts } from './facts.js'
import { command, hands, type Step } from './finding.js'
import { generationOf, isBefore } from './generation.js'

/** Last branch that supports Maxwell, Pascal and Volta. */
const LAST_FOR_OLD = 580

/** Branch to install if no installed one determines it. */
const BRANCH = 580

/**
 * Returns the steps that install the open flavour of NVIDIA's driver with the packages of this distribution. Both
 * flavours have the same versions, so nothing else changes.
 * @param version of the driver; that of the running module by default.
 */
export function openFlavour(facts: Facts, version = runningVersion(facts)): Step[] {
  const branch = version === undefined ? BRANCH : Number.parseInt(version, 10)
  if (!hasTuring(facts))
    return [hands(`install driver ${LAST_FOR_OLD}: the last that supports GPUs before Turing`), RESTART]
  switch (familyOf(facts.machine)) {
    case 'ubuntu':
      return [command(`sudo apt install nvidia-driver-${branch}-open`), RESTART]
    case 'debian':
      return [command('sudo apt install nvidia-driver nvidia-open-kernel-dkms'), RESTART]
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

/** Returns the steps that install a driver with the lookup, in the open flavour. */
export function fixedDriver(facts: Facts): Step[] {
  const own = Number.parseInt(runningVersion(facts) ?? '', 10)
  return openFlavour(facts, String(Math.max(BRANCH, Number.isNaN(own) ? 0 : own)))
}

function runningVersion({ nvidia }: Facts): string | undefined {
  const running = valueOf(nvidia.running)
  return running === undefined ? undefined : valueOf(running.version)
}

/** Whether the open flavour supports a GPU of this machine: Turing or later, or unknown. */
export function hasTuring({ machine: { gpus, functions } }: Facts): boolean {
  return gpus.some(({ address, vendor }) => {
    const found = functions.find((each) => each.address === address)
    const generation = found === undefined ? undefined : generationOf(found.deviceId)
    return vendor === 'NVIDIA' && (generation === undefined || !isBefore(generation, 'Turing'))
  })
}

const RESTART = command('sudo reboot')
