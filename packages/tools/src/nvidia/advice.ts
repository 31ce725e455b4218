import { commandFor, onMachine, whereItIs } from '../command-line/advised-command.js'
import type { Action, Phrase } from '../command-line/next-step.js'
import { isKnown, valueOf } from '../machine/known.js'
import type { DkmsBuild, Mismatch, ModuleContents, NvidiaDriver, StaticBar1 } from './driver-state.js'
import { lastOf } from './options.js'
import { staticBar1 as ruleOfStaticBar1 } from './static-bar1.js'

/** How one thing stands, and what helps: by our commands and by the user's own, in order. */
export interface Advice {
  readonly topic: 'registration' | 'static-bar1' | 'mismatch'
  readonly verdict: 'fine' | 'wanting' | 'unknown'
  readonly text: string
  readonly steps: readonly Action[]
}

/** The best first, as a sentence: both flavours have the same versions and serve the same GPUs from Turing on. */
const openFirst = (root: string, before = ''): Phrase => ({
  words: [
    `${before}install the open flavour of the driver, which needs no change (GPUs from Turing on; `,
    commandFor(root, 'doctor'),
    ' names the package), then restart',
  ],
})

/** @param root folder with the files of the machine. */
export function adviseDriver(driver: NvidiaDriver, root: string): Advice[] {
  const advice = [registration(driver, root), ...staticBar1(driver, root), ...mismatches(driver)]
  return advice.map((each) => ({ ...each, steps: each.steps.map((step) => whereItIs(root, step)) }))
}

/** Whether CUDA can be given a drive's registers. */
function registration(driver: NvidiaDriver, root: string): Advice {
  const topic = 'registration'
  const rivals = valueOf(driver.rivals) ?? []
  const contents = moduleOf(driver)
  if (contents === undefined) {
    const reason = isKnown(driver.onDisk) ? 'no module of NVIDIA for this kernel' : driver.onDisk.unknown
    const text = rivals.length > 0 ? `${reason}; ${rivals.join(' and ')} drives the GPUs` : reason
    return { topic, verdict: isKnown(driver.onDisk) ? 'wanting' : 'unknown', text, steps: [openFirst(root)] }
  }
  if (!isKnown(contents)) return { topic, verdict: 'unknown', text: contents.unknown, steps: [] }
  const { pfnLookup, version = 'the module', flavour } = contents
  const called = `${version} (${isKnown(flavour) ? flavour : 'flavour unknown'})`
  if (pfnLookup !== 'none') {
    const steps = endsAt610(contents) ? [openFirst(root, 'before a kernel 6.10 or later: ')] : []
    return { topic, verdict: 'fine', text: `${called} finds registers by ${pfnLookup}`, steps }
  }
  const text = `${called} can look no registers up: registering a drive with CUDA fails`
  if (isKnown(flavour) && flavour === 'open') return { topic, verdict: 'wanting', text, steps: openSteps(driver) }
  return {
    topic,
    verdict: 'wanting',
    text,
    steps: [
      openFirst(root),
      {
        words: [
          'or, where the proprietary flavour has to stay: ',
          onMachine(root, 'driver', 'apply', 'pfn-lookup'),
          treeFirst(driver),
        ],
      },
    ],
  }
}

/** What has to be there before pfn-lookup can be changed: nothing, or the sources, which not every package brings. */
export function treeFirst({ trees }: Pick<NvidiaDriver, 'trees'>): string {
  if (trees.some(({ kind }) => valueOf(kind) === 'proprietary-interface+binary')) return ''
  return ", once its source tree is there: from the distribution's package of the driver for DKMS (Ubuntu: nvidia-dkms-NNN; Debian: nvidia-kernel-dkms), or --source DIR"
}

/** An open module without a look-up was built without headers that say what the kernel has, or is too old for it. */
function openSteps(driver: NvidiaDriver): string[] {
  const here = driver.kernels.find(({ release }) => release === valueOf(driver.kernel))
  const exported = here === undefined ? undefined : valueOf(here.exports)
  if (here !== undefined && exported === undefined)
    return ["install the kernel's headers with their Module.symvers, and have DKMS build the module again"]
  if (exported?.follow_pfnmap_start === undefined && exported !== undefined)
    return ['this kernel exports no look-up (TRIM_UNUSED_KSYMS?): use a kernel of the distribution']
  return ['upgrade the driver: 580 and later look registers up on every kernel that they build on']
}

/** follow_pfn went with 6.10; what calls nothing else does not build from there on. */
function endsAt610({ pfnLookup, flavour }: ModuleContents): boolean {
  return (pfnLookup === 'follow_pfn' || pfnLookup === 'unsafe_follow_pfn') && valueOf(flavour) === 'proprietary'
}

/** The module that counts: of the running kernel, that which would be loaded next. */
export function moduleOf({ onDisk, kernel }: NvidiaDriver) {
  return valueOf(onDisk)?.find((module) => module.kernel === valueOf(kernel))?.contents
}

/** As it is now, and as it will be when the module on disk is loaded with what is configured. */
function staticBar1(driver: NvidiaDriver, root: string): Advice[] {
  const { state, because } = driver.staticBar1
  const topic = 'static-bar1'
  const contents = moduleOf(driver)
  if (contents === undefined) return []
  if (!isKnown(state)) return [{ topic, verdict: 'unknown', text: state.unknown, steps: [] }]
  if (isOn(state)) return [{ topic, verdict: 'fine', text: `${state}: ${because}`, steps: [] }]
  const version = isKnown(contents) ? contents.version : undefined
  const next = version === undefined ? undefined : ruleOfStaticBar1(version, driver.options.configuredRegistry)
  return [{ topic, verdict: 'wanting', text: `${state}: ${because}`, steps: [stepToStaticBar1(driver, next, root)] }]
}

function stepToStaticBar1(driver: NvidiaDriver, next: StaticBar1 | undefined, root: string): Action {
  if (next?.state === 'none') return 'upgrade the driver: 580 and later have it without any option'
  if (next !== undefined && isKnown(next.state) && isOn(next.state)) return 'restart: the module on disk has it on'
  const setIn = lastOf(driver.options.configured, 'NVreg_RegistryDwords')?.file
  if (setIn !== undefined && driver.options.configuredRegistry['RMForceStaticBar1'] !== undefined)
    return `take RMForceStaticBar1 out of ${setIn}, build the initramfs again, then restart`
  return onMachine(root, 'driver', 'apply', 'options', '--set', 'static-bar1')
}

function isOn(state: string): boolean {
  return state === 'on' || state === 'auto'
}

const STEPS: Partial<Record<Mismatch['kind'], readonly string[]>> = {
  'running-and-disk': ['sudo reboot'],
  'disk-and-initramfs': ['build the initramfs again (sudo update-initramfs -u), then restart'],
  'running-and-configured': ['build the initramfs again (sudo update-initramfs -u), then restart'],
  'running-and-libcuda': ['sudo reboot; if it stays so, install module and library of one version'],
  'several-trees': ['keep one tree, and remove the others (sudo dkms remove)'],
  'several-modules': ['remove the others, by the packages that they are of (dpkg -S, rpm -qf)'],
  'mark-lost': ['build and install the tree again (sudo dkms build --force, dkms install --force)'],
}

function mismatches({ mismatches: found }: NvidiaDriver): Advice[] {
  return found.map(({ kind, text }) => ({
    topic: 'mismatch',
    verdict: 'wanting',
    text,
    steps: STEPS[kind] ?? [],
  }))
}

/** How the user builds a changed tree and installs its modules. */
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

const SIGNED =
  'with Secure Boot: the module has to be signed by a key that is enrolled (mokutil --test-key /var/lib/dkms/mok.pub)'

/** The initramfs may hold the module or its options of before. @param isModule whether a module was built anew. */
export function initramfsSteps(kernel: string, isModule: boolean, root: string): Action[] {
  return [
    `sudo update-initramfs -u -k ${kernel} (Fedora: sudo dracut -f --kver ${kernel}; Arch: sudo mkinitcpio -P)`,
    ...(isModule ? [SIGNED] : []),
    'sudo reboot',
    { ...commandFor(root, 'driver'), note: 'which shows whether it has come through' },
  ]
}
