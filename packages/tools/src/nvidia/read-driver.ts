import { isKnown, valueOf, type Known, unknown } from '../machine/known.js'
import { Root } from '../machine/root.js'
import type {
  ConfiguredOption,
  DriverOptions,
  Initramfs,
  ModuleContents,
  NvidiaDriver,
  Libcuda,
  KernelExports,
} from './driver-state.js'
import { moduleInInitramfs } from './initramfs.js'
import { mismatchesOf } from './mismatches.js'
import { readDiskModules, readModule, LOOKUP_SYMBOLS } from './module-file.js'
import { lastOf, optionsIn, optionsOnCommandLine, parametersOf, registryOf } from './options.js'
import { KNOWN_SHAPES, type KnownShape } from './pfn-shapes.js'
import { readGpus, readRivals, readRunning } from './running.js'
import { staticBar1 } from './static-bar1.js'
import { readDkms, readTrees } from './trees.js'
import { isDriverVersion } from './version.js'

const MAX_INITRAMFS_BYTES = 1024 ** 3
const MAX_OPTION_FILES = 256
/** Directories of options, in order of precedence; of files with the same name, only the first counts. */
const OPTION_FOLDERS = [
  'etc/modprobe.d',
  'run/modprobe.d',
  'usr/local/lib/modprobe.d',
  'usr/lib/modprobe.d',
  'lib/modprobe.d',
]

/**
 * Reads the state of NVIDIA's driver from the files of a machine. Nothing is written, and only decompression programs
 * are run.
 * @param root '/' for a live machine, the directory of a copy, or its reader.
 */
export async function readNvidia(
  root: string | Root,
  table: readonly KnownShape[] = KNOWN_SHAPES,
): Promise<NvidiaDriver> {
  const from = typeof root === 'string' ? new Root(root) : root
  const kernel = (await from.text('proc/sys/kernel/osrelease')) ?? from.why('proc/sys/kernel/osrelease')
  const [running, conflictingModules, onDisk, dkms, options, gpus, libcuda] = await Promise.all([
    readRunning(from),
    readRivals(from),
    readDiskModules(from, valueOf(kernel)),
    readDkms(from),
    readOptions(from),
    readGpus(from),
    readLibcuda(from),
  ])
  const releases = [
    ...new Set([...(isKnown(kernel) ? [kernel] : []), ...(valueOf(onDisk) ?? []).map((each) => each.kernel)]),
  ]
  const version = versionThatCounts(running, onDisk)
  const state = {
    kernel,
    running,
    conflictingModules,
    onDisk,
    initramfs: await inOrder(releases, (release) => readInitramfs(from, release)),
    trees: await readTrees(from, dkms, table),
    dkms,
    options,
    kernels: await Promise.all(releases.map((release) => readKernelExports(from, release))),
    staticBar1:
      version === undefined
        ? { state: 'none' as const, reason: 'no NVIDIA driver is loaded or installed' }
        : staticBar1(version, options.running === undefined ? options.configuredRegistry : options.runningRegistry),
    gpus,
    libcuda,
  }
  return { ...state, mismatches: mismatchesOf(state) }
}

/** Version of the running module; otherwise of the one that would be loaded. */
function versionThatCounts(running: NvidiaDriver['running'], onDisk: NvidiaDriver['onDisk']): string | undefined {
  const loaded = valueOf(running)
  if (loaded !== undefined) return valueOf(loaded.version) ?? ''
  const [first] = valueOf(onDisk) ?? []
  return first === undefined ? undefined : (valueOf(first.contents)?.version ?? '')
}

async function readOptions(root: Root): Promise<DriverOptions> {
  const text = await root.text('proc/driver/nvidia/params')
  const loaded = await root.exists('proc/driver/nvidia')
  const running: Known<Record<string, string> | undefined> =
    text !== undefined ? parametersOf(text) : loaded ? root.why('proc/driver/nvidia/params') : undefined
  const configured = [...(await configuredIn(root)), ...optionsOnCommandLine((await root.text('proc/cmdline')) ?? '')]
  return {
    running,
    runningRegistry: registryOf(valueOf(running)?.['RegistryDwords'] ?? ''),
    configured,
    configuredRegistry: registryOf(lastOf(configured, 'NVreg_RegistryDwords')?.value ?? ''),
  }
}

/** By file name across directories, as modprobe does. */
async function configuredIn(root: Root): Promise<ConfiguredOption[]> {
  const files = new Map<string, string>()
  for (const folder of OPTION_FOLDERS) {
    for (const name of await root.list(folder)) {
      if (name.endsWith('.conf') && !files.has(name)) files.set(name, `${folder}/${name}`)
    }
  }
  const ordered = [...files].sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, MAX_OPTION_FILES)
  const options = await Promise.all(
    ordered.map(async ([, path]) => optionsIn(`/${path}`, (await root.text(path)) ?? '')),
  )
  return options.flat()
}

/** @returns undefined for a kernel without one. */
async function readInitramfs(root: Root, kernel: string): Promise<Initramfs | undefined> {
  for (const path of [`boot/initrd.img-${kernel}`, `boot/initramfs-${kernel}.img`, `boot/initrd-${kernel}`]) {
    if (!(await root.exists(path))) continue
    const bytes = await root.bytes(path, MAX_INITRAMFS_BYTES)
    if (bytes === undefined) return { kernel, path: `/${path}`, module: root.why(path) }
    const file = await moduleInInitramfs(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    const module = file === undefined || !isKnown(file) ? file : await readModule(file)
    return { kernel, path: `/${path}`, module: module === undefined || !isKnown(module) ? module : facts(module) }
  }
  return undefined
}

function facts({ version, flavour, srcversion, mark }: ModuleContents) {
  return { version, flavour, srcversion, mark }
}

/** One after the other: each may need hundreds of megabytes. */
async function inOrder<T, R>(items: readonly T[], use: (item: T) => Promise<R | undefined>): Promise<R[]> {
  const results: R[] = []
  for (const item of items) {
    const result = await use(item)
    if (result !== undefined) results.push(result)
  }
  return results
}

/** Directories used by distributions, NVIDIA's installer, WSL and containers. */
const FOLDERS = [
  'usr/lib/x86_64-linux-gnu',
  'usr/lib/x86_64-linux-gnu/nvidia/current',
  'usr/lib/aarch64-linux-gnu',
  'usr/lib64',
  'usr/lib64/nvidia',
  'usr/lib',
  'usr/lib/wsl/lib',
  'usr/local/nvidia/lib64',
  'usr/local/cuda/compat',
  'run/opengl-driver/lib',
]

/** Finds the CUDA library: the file with a version in its name. */
async function readLibcuda(root: Root): Promise<Known<Libcuda | undefined>> {
  let unnamed: string | undefined
  for (const folder of FOLDERS) {
    for (const name of await root.list(folder)) {
      const [, version] = /^libcuda\.so\.(.+)$/.exec(name) ?? []
      if (version !== undefined && isDriverVersion(version)) return { path: `/${folder}/${name}`, version }
      if (name === 'libcuda.so.1') unnamed ??= `/${folder}/${name}`
    }
  }
  if (unnamed !== undefined) return { path: unnamed, version: unknown('no file has its version in its name') }
  return (await root.exists('usr/lib')) || (await root.exists('usr/lib64')) ? undefined : root.why('usr/lib')
}

const MAX_BYTES = 64 * 1024 * 1024

/**
 * Reads a kernel's exports from its headers, where the driver's conftest looks.
 */
async function readKernelExports(root: Root, release: string): Promise<KernelExports> {
  return { release, exports: await exportsOf(root, release) }
}

async function exportsOf(root: Root, release: string): Promise<KernelExports['exports']> {
  const places = [`lib/modules/${release}/build/Module.symvers`, `lib/modules/${release}/source/Module.symvers`]
  for (const path of places) {
    const bytes = await root.bytes(path, MAX_BYTES)
    if (bytes !== undefined) return parse(Buffer.from(bytes).toString('latin1'), path)
  }
  return missing(root, places[0]!)
}

function missing(root: Root, path: string): Known<never> {
  const why = root.why(path)
  return why.unknown.startsWith('there is no') ? unknown(`the kernel's headers are not installed: no /${path}`) : why
}

/**
 * Lines of checksum, name, module, kind of export and namespace, separated by tabs (Linux,
 * Documentation/kbuild/modules.rst).
 */
function parse(text: string, path: string): KernelExports['exports'] {
  if (!/^0x[0-9a-f]{8}\t/.test(text)) return unknown(`/${path} does not have the format of a kernel build`)
  const found = LOOKUP_SYMBOLS.flatMap((name) => {
    const [, kind] = new RegExp(`^0x[0-9a-f]{8}\\t${name}\\t[^\\t\\n]*\\t(\\w+)`, 'm').exec(text) ?? []
    return kind === undefined ? [] : [[name, kind.endsWith('_GPL') ? 'GPL' : 'any'] as const]
  })
  return Object.fromEntries(found)
}
