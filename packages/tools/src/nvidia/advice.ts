import { commandFor, onMachine, whereItIs } from '../command-line/advised-command.js'
import type { Action, Phrase } from '../command-line/next-step.js'
import { isKnown, valueOf } from '../machine/known.js'
import type { DkmsBuild, Mismatch, ModuleContents, NvidiaDriver, StaticBar1 } from './driver-state.js'
import { lastOf } from './options.js'
import { staticBar1 as ruleOfStaticBar1 } from './static-bar1.js'

/** State of one topic, and the steps that help, in order. */
export interface Advice {
  readonly topic: 'registration' | 'static-bar1' | 'mismatch'
  readonly verdict: 'fine' | 'wanting' | 'unknown'
  readonly text: string
  readonly steps: readonly Action[]
}

/** The preferred step: both flavours have the same versions and support the same GPUs since Turing. */
const openFirst = (root: string, before = ''): Phrase => ({
  words: [
    `${before}install the open flavour of the driver, which needs no change (GPUs from Turing on; `,
    commandFor(root, 'doctor'),
    ' names the package), then restart',
  ],
})

/** @param root directory with the files of the machine. */
export function adviseDriver(driver: NvidiaDriver, root: string): Advice[] {
  const advice = [registration(driver, root), ...staticBar1(driver, root), ...mismatches(driver)]
  return advice.map((each) => ({ ...each, steps: each.steps.map((step) => whereItIs(root, step)) }))
}

/** Returns whether CUDA can register a drive's registers. */
function registration(driver: NvidiaDriver, root: string): Advice {
  const topic = 'registration'
  const conflictingModules = valueOf(driver.conflictingModules) ?? []
  const contents = moduleOf(driver)
  if (contents === undefined) {
    const reason = isKnown(driver.onDisk) ? 'no NVIDIA module for this kernel' : driver.onDisk.unknown
    const text =
      conflictingModules.length > 0 ? `${reason}; ${conflictingModules.join(' and ')} is bound to the GPUs` : reason
    return { topic, verdict: isKnown(driver.onDisk) ? 'wanting' : 'unknown', text, steps: [openFirst(root)] }
  }
  if (!isKnown(contents)) return { topic, verdict: 'unknown', text: contents.unknown, steps: [] }
  const { pfnLookup, version = 'the module', flavour } = contents
  const called = `${version} (${isKnown(flavour) ? flavour : 'flavour unknown'})`
  if (pfnLookup !== 'none') {
    const steps = endsAt610(contents) ? [openFirst(root, 'before an upgrade to kernel 6.10 or later: ')] : []
    return { topic, verdict: 'fine', text: `${called} looks up registers by ${pfnLookup}`, steps }
  }
  const text = `${called} cannot look up registers: registering a drive with CUDA fails`
  if (isKnown(flavour) && flavour === 'open') return { topic, verdict: 'wanting', text, steps: openSteps(driver) }
  return {
    topic,
    verdict: 'wanting',
    text,
    steps: [
      openFirst(root),
      {
        words: [
          'or, to keep the proprietary flavour: ',
          onMachine(root, 'driver', 'apply', 'pfn-lookup', '--experimental'),
          treeFirst(driver),
        ],
      },
    ],
  }
}

/** Returns the condition of pfn-lookup: none, or installed sources, which not all packages include. */
export function treeFirst({ trees }: Pick<NvidiaDriver, 'trees'>): string {
  if (trees.some(({ kind }) => valueOf(kind) === 'proprietary-interface+binary')) return ''
  return "; it requires the driver's sources: install the distribution's DKMS package (Ubuntu: nvidia-dkms-NNN; Debian: nvidia-kernel-dkms), or use --source DIR"
}

/** An open module without lookup was built without sufficient kernel headers, or is too old for the kernel. */
function openSteps(driver: NvidiaDriver): string[] {
  const here = driver.kernels.find(({ release }) => release === valueOf(driver.kernel))
  const exported = here === undefined ? undefined : valueOf(here.exports)
  if (here !== undefined && exported === undefined)
    return ["install the kernel's headers including Module.symvers, and rebuild the module with DKMS"]
  if (exported?.follow_pfnmap_start === undefined && exported !== undefined)
    return ['this kernel exports no lookup function (TRIM_UNUSED_KSYMS?): use a kernel of the distribution']
  return ['upgrade the driver: 580 and later look up registers on every kernel that they support']
}

/** follow_pfn was removed in 6.10; a module that calls nothing else does not build there. */
function endsAt610({ pfnLookup, flavour }: ModuleContents): boolean {
  return (pfnLookup === 'follow_pfn' || pfnLookup === 'unsafe_follow_pfn') && valueOf(flavour) === 'proprietary'
}

/** Returns the relevant module: for the running kernel, the one that would be loaded next. */
export function moduleOf({ onDisk, kernel }: NvidiaDriver) {
  return valueOf(onDisk)?.find((module) => module.kernel === valueOf(kernel))?.contents
}

/** Current state, and the state after loading the module on disk with the configured options. */
function staticBar1(driver: NvidiaDriver, root: string): Advice[] {
  const { state, reason } = driver.staticBar1
  const topic = 'static-bar1'
  const contents = moduleOf(driver)
  if (contents === undefined) return []
  if (!isKnown(state)) return [{ topic, verdict: 'unknown', text: state.unknown, steps: [] }]
  if (isOn(state)) return [{ topic, verdict: 'fine', text: `${state}: ${reason}`, steps: [] }]
  const version = isKnown(contents) ? contents.version : undefined
  const next = version === undefined ? undefined : ruleOfStaticBar1(version, driver.options.configuredRegistry)
  return [{ topic, verdict: 'wanting', text: `${state}: ${reason}`, steps: [stepToStaticBar1(driver, next, root)] }]
}

function stepToStaticBar1(driver: NvidiaDriver, next: StaticBar1 | undefined, root: string): Action {
  if (next?.state === 'none') return 'upgrade the driver: 580 and later enable it without an option'
  if (next !== undefined && isKnown(next.state) && isOn(next.state)) return 'restart: the module on disk enables it'
  const setIn = lastOf(driver.options.configured, 'NVreg_RegistryDwords')?.file
  if (setIn !== undefined && driver.options.configuredRegistry['RMForceStaticBar1'] !== undefined)
    return `remove RMForceStaticBar1 from ${setIn}, rebuild the initramfs, then restart`
  return onMachine(root, 'driver', 'apply', 'options', '--set', 'static-bar1', '--experimental')
}

function isOn(state: string): boolean {
  return state === 'on' || state === 'auto'
}

const STEPS: Partial<Record<Mismatch['kind'], readonly string[]>> = {
  'running-and-disk': ['sudo reboot'],
  'disk-and-initramfs': ['rebuild the initramfs (sudo update-initramfs -u), then restart'],
  'running-and-configured': ['rebuild the initramfs (sudo update-initramfs -u), then restart'],
  'running-and-libcuda': ['sudo reboot; if that does not help, install module and library of the same version'],
  'several-trees': ['keep one tree and remove the others (sudo dkms remove)'],
  'several-modules': ['remove the packages of the others (find them with dpkg -S or rpm -qf)'],
  'mark-lost': ['rebuild and reinstall the tree (sudo dkms build --force, dkms install --force)'],
}

function mismatches({ mismatches: found }: NvidiaDriver): Advice[] {
  return found.map(({ kind, text }) => ({
    topic: 'mismatch',
    verdict: 'wanting',
    text,
    steps: STEPS[kind] ?? [],
  }))
}

/** Returns the commands that build a changed tree and install its modules. */
export function buildSteps(driver: NvidiaDriver, tree: string): string[] {
  const kernel = valueOf(driver.kernel) ?? '$(uname -r)'
  const build = driver.dkms.find(({ source }) => source === tree)
  return build === undefined ? outsideOfDkms(tree) : dkmsSteps(build, kernel)
}

function dkmsSteps({ name, version }: DkmsBuild, kernel: string): string[] {
  const module = `-m ${name} -v ${version} -k ${kernel}`
  return [`sudo dkms build --force ${module}`, `sudo dkms install --force ${module}`]
}

function outsideOfDkms(tree: string): string[] {
  return [`make -C ${tree} modules -j$(nproc)`, `sudo make -C ${tree} modules_install`, 'sudo depmod']
}

const SIGNED = 'with Secure Boot: sign the module with an enrolled key (mokutil --test-key /var/lib/dkms/mok.pub)'

/** The initramfs may contain the old module or its old options. @param isModule whether a module was rebuilt. */
export function initramfsSteps(kernel: string, isModule: boolean, root: string): Action[] {
  return [
    `sudo update-initramfs -u -k ${kernel} (Fedora: sudo dracut -f --kver ${kernel}; Arch: sudo mkinitcpio -P)`,
    ...(isModule ? [SIGNED] : []),
    'sudo reboot',
    { ...commandFor(root, 'driver'), note: 'which shows whether it is in effect' },
  ]
}
