import { valueOf } from '../../machine/known.js'
import type { Gpu } from '../../machine/machine.js'
import { functionAt } from '../../machine/index.js'
import { sysfs, type Facts } from '../facts.js'
import { command, hands, instead, read, type Draft, type Step } from '../finding.js'
import { generationOf, isBefore, type Generation } from '../generation.js'
import { openFlavour } from '../open-flavour.js'
import { updateInitramfs } from '../advice.js'

/** Checks the driver of one GPU, and whether our kernels support its generation. */
export function checkNvidiaGpu(facts: Facts, { address, model }: Gpu): Draft[] {
  const found = functionAt(facts.machine, address)
  const generation = found === undefined ? undefined : generationOf(found.deviceId)
  const name = valueOf(model) ?? `GPU ${address}`
  const drafts = [...boundDriver(facts, address, found?.driver), ...byGeneration(name, address, generation)]
  return drafts.map((draft) => ({ ...draft, subjects: [address] }))
}

/** Whether a driver drives NVIDIA GPUs instead of NVIDIA's own. */
export function isRival(driver: string | undefined): boolean {
  return driver === 'nouveau' || driver === 'nova_core'
}

function boundDriver(facts: Facts, address: string, driver: string | undefined): Draft[] {
  if (driver === 'nvidia') return []
  // Another finding reports a module that is not loaded.
  const isLoaded = valueOf(facts.nvidia.running) !== undefined
  if (driver === undefined && !isLoaded) return []
  return [
    {
      id: 'gpu-driver',
      severity: 'problem',
      title: `GPU ${address} ${driver === undefined ? 'has no driver' : `is bound to ${driver}`}: CUDA requires NVIDIA's`,
      evidence: [read(sysfs(address, 'driver'), driver ?? 'none')],
      steps: isRival(driver) ? insteadOf(facts, driver!) : [giveBack(address)],
      closes: ['tier1'],
    },
  ]
}

function giveBack(address: string): Step {
  const folder = sysfs(address, '')
  return hands(
    `return it: write an empty line to ${folder}driver_override, its address to driver/unbind and drivers_probe`,
  )
}

/** NVIDIA's packages blacklist nouveau. If it loads anyway, these steps blacklist it. */
function insteadOf(facts: Facts, driver: string): Step[] {
  const { onDisk, kernel } = facts.nvidia
  const isInstalled = valueOf(onDisk)?.some((module) => module.kernel === valueOf(kernel)) ?? false
  if (!isInstalled) return openFlavour(facts)
  return [
    command(`echo blacklist ${driver} | sudo tee /etc/modprobe.d/not-${driver}.conf`),
    updateInitramfs(facts.machine),
    command('sudo reboot'),
  ]
}

function byGeneration(name: string, address: string, generation: Generation | undefined): Draft[] {
  if (generation === undefined)
    return [
      {
        id: 'generation-unknown',
        severity: 'unknown',
        title: `${name}: unknown generation`,
        evidence: [read(sysfs(address, 'device'), 'not a known chip')],
        closes: ['tier1-cuda'],
      },
    ]
  const evidence = [read(sysfs(address, 'device'), generation)]
  if (isBefore(generation, 'Turing'))
    return [
      {
        id: 'generation-old',
        severity: 'problem',
        title: `${name} is older than Turing: our kernels do not support it`,
        cause: "Neither does NVIDIA's open driver, which access to its memory requires.",
        evidence,
        steps: [instead('the engine host: the CPU rings, the GPU copies')],
        closes: ['tier1-cuda', 'tier2-dma-buf', 'tier2-static-bar1'],
      },
    ]
  if (generation === 'Blackwell')
    return [
      {
        id: 'blackwell',
        severity: 'problem',
        title: `${name} is Blackwell: the CPU must write the doorbells`,
        cause: "Mapping a drive's registers on a Blackwell GPU froze a machine with an RTX 5060 Ti.",
        evidence,
        steps: [instead('gpunvme load: kernels do everything except writing doorbells')],
        closes: ['tier1-cuda'],
      },
    ]
  return [{ id: 'generation', severity: 'ok', title: `${name} is ${generation}`, evidence, opens: ['tier1-cuda'] }]
}
