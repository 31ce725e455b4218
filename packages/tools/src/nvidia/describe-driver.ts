import { labelled } from '../terminal/labelled.js'
import { renderStep, type Action } from '../command-line/next-step.js'
import { isKnown, type Known } from '../machine/known.js'
import type { Invocation } from '../terminal/invocation.js'
import { printable } from '../terminal/printable.js'
import { plural } from '../terminal/units.js'
import type { Advice } from './advice.js'
import type { DiskModule, Initramfs, NvidiaDriver, SourceTree } from './driver-state.js'

type Row = readonly [label: string, value: string]

/** Describes the state of the driver, and contradictions between its parts. */
export function describeDriver(driver: NvidiaDriver): string[] {
  const rows: Row[] = [
    ['kernel', orWhy(driver.kernel)],
    ['running', running(driver)],
    ...list('on disk', driver.onDisk, disk),
    ...driver.initramfs.map((each): Row => ['initramfs', initramfs(each)]),
    ['libcuda', libcuda(driver)],
    ...driver.trees.map((each): Row => ['sources', tree(each)]),
    ...driver.dkms.map(({ name, version, kernel }): Row => [
      'DKMS',
      printable(`${name}/${version}: ${kernel === undefined ? 'added, not built' : `built for ${kernel}`}`),
    ]),
    ...options(driver),
    ...driver.kernels.map(({ release, exports }): Row => ['exports', printable(`${release}: ${exported(exports)}`)]),
    ['BAR1', `static: ${orWhy(driver.staticBar1.state)}; ${driver.staticBar1.reason}`],
    ...driver.gpus.map(({ address, model }): Row => ['GPU', printable(`${address} ${orWhy(model)}`)]),
  ]
  const disagreements = driver.mismatches.map(({ text }) => `  - ${printable(text)}`)
  return [
    "NVIDIA's driver",
    ...labelled(rows),
    ...(disagreements.length === 0 ? [] : ['', 'Mismatches', ...disagreements]),
  ]
}

/** Describes each topic and the steps that help. */
export function describeAdvice(advice: readonly Advice[], invocation: Invocation): string[] {
  const titles = {
    registration: 'Registering a drive with CUDA',
    'static-bar1': 'Static BAR1',
    mismatch: 'Mismatches',
  }
  return advice.flatMap(({ topic, verdict, text, steps }, index) => [
    ...(index > 0 && advice[index - 1]!.topic === topic ? [] : [...(index > 0 ? [''] : []), titles[topic]]),
    `${verdict === 'fine' ? '  ok  ' : '  !   '}${verdict === 'unknown' ? 'unknown: ' : ''}${printable(text)}`,
    ...describeSteps(steps, invocation),
  ])
}

export function describeSteps(steps: readonly Action[], invocation: Invocation): string[] {
  return steps.map((step, index) => `      ${index + 1}. ${renderStep(step, invocation)}`)
}

function running({ running: module, conflictingModules }: NvidiaDriver): string {
  if (!isKnown(module)) return orWhy(module)
  const others =
    isKnown(conflictingModules) && conflictingModules.length > 0
      ? `; ${conflictingModules.join(' and ')} is loaded`
      : ''
  if (module === undefined) return `not loaded${others}`
  return printable(`${orWhy(module.version)}, ${orWhy(module.flavour)}${others}`)
}

function disk({ kernel, path, contents }: DiskModule): string {
  if (!isKnown(contents)) return printable(`${path}: ${orWhy(contents)}`)
  const { version = 'no version', flavour, pfnLookup, signer, mark } = contents
  const signed = signer === undefined ? 'not signed' : `signed by ${orWhy(signer)}`
  const ours = mark === undefined ? '' : `, gpunvme's ${mark}`
  return printable(`${kernel}: ${version}, ${orWhy(flavour)}, look-up ${pfnLookup}${ours}, ${signed}; ${path}`)
}

function initramfs({ path, module }: Initramfs): string {
  if (module !== undefined && !isKnown(module)) return printable(`${path}: ${orWhy(module)}`)
  const held =
    module === undefined ? 'no nvidia.ko in it' : `${module.version ?? 'no version'}, ${orWhy(module.flavour)}`
  return printable(`${path}: ${held}`)
}

function libcuda({ libcuda: library }: NvidiaDriver): string {
  if (library === undefined) return 'not installed'
  return isKnown(library) ? printable(`${orWhy(library.version)}; ${library.path}`) : orWhy(library)
}

function tree({ path, version, kind, pfnShape, applied }: SourceTree): string {
  const ours = applied.length === 0 ? '' : `; changed by gpunvme: ${applied.join(', ')}`
  return printable(`${path}: ${orWhy(version)}, ${orWhy(kind)}, look-up ${orWhy(pfnShape)}${ours}`)
}

function options({ options: { configured, running: now } }: NvidiaDriver): Row[] {
  const set = configured.map(({ file, name, value }): Row => ['configured', printable(`${name}=${value} (${file})`)])
  if (now === undefined || !isKnown(now)) return set
  const keys = now['RegistryDwords'] ?? ''
  return [
    ...set,
    ['registry', keys === '' ? 'no keys in the running module' : printable(`${keys} in the running module`)],
  ]
}

function exported(exports: NvidiaDriver['kernels'][number]['exports']): string {
  if (!isKnown(exports)) return orWhy(exports)
  const found = Object.entries(exports).map(([name, who]) => `${name}${who === 'GPL' ? ' (GPL)' : ''}`)
  return found.length === 0 ? 'no lookup of registers' : found.join(', ')
}

function list<T>(label: string, items: Known<readonly T[]>, describe: (item: T) => string): Row[] {
  if (!isKnown(items)) return [[label, orWhy(items)]]
  return items.length === 0 ? [[label, plural(0, 'module')]] : items.map((item): Row => [label, describe(item)])
}

function orWhy(value: Known<string | undefined>): string {
  return isKnown(value) ? (value ?? 'none') : `unknown: ${value.unknown}`
}
