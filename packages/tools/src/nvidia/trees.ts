import { isKnown, unknown, type Known } from '../machine/known.js'
import type { Root } from '../machine/root.js'
import { changesIn } from './change-record.js'
import type { DkmsBuild, Flavour, PfnShape, SourceTree, TreeKind } from './driver-state.js'
import { formOfOurs } from './pfn-fix.js'
import { shapeOf, type KnownShape } from './pfn-shapes.js'
import { isDriverVersion } from './version.js'

const MAX_TREES = 64
const MAX_BUILDS = 256
const MAX_SOURCE_BYTES = 1024 * 1024

/** Layouts of trees: NVIDIA's release, and the packages of distributions. */
const LAYOUTS = [
  { folder: 'kernel-open', lookup: 'kernel-open/nvidia/os-mlock.c', isFull: true },
  { folder: 'nvidia', lookup: 'nvidia/os-mlock.c', isFull: false },
] as const

/** Reads trees below /usr/src, and those that DKMS links to elsewhere. */
export async function readTrees(
  root: Root,
  builds: readonly DkmsBuild[],
  table: readonly KnownShape[],
): Promise<SourceTree[]> {
  const inUsrSrc = (await root.list('usr/src'))
    .filter((name) => /^nvidia-/.test(name) || name === 'open-gpu-kernel-modules')
    .map((name) => `usr/src/${name}`)
  const linked = builds.flatMap(({ source }) => (source === undefined ? [] : [source.replace(/^\//, '')]))
  const trees: SourceTree[] = []
  for (const path of [...new Set([...inUsrSrc, ...linked])].slice(0, MAX_TREES)) {
    const tree = await readTree(root, path, table)
    if (tree !== undefined) trees.push(tree)
  }
  return trees
}

/** @returns undefined for a directory without driver sources, such as nvidia-fs. */
export async function readTree(
  root: Root,
  path: string,
  table: readonly KnownShape[],
): Promise<SourceTree | undefined> {
  const layout = await layoutOf(root, path)
  if (layout === undefined) return undefined
  const flavour = await flavourOfTree(root, `${path}/${layout.folder === 'nvidia' ? 'nvidia' : 'kernel-open/nvidia'}`)
  const changes = await changesIn(root, path)
  return {
    path: `/${path}`,
    version: await versionOfTree(root, path),
    kind: await kindOf(root, path, layout.isFull, flavour),
    pfnShape: isKnown(flavour) ? await shapeOfFile(root, `${path}/${layout.lookup}`, flavour, table) : flavour,
    applied: changes.map(({ mark }) => mark),
  }
}

/** Returns the path of a tree's PFN lookup; undefined if there is none. */
export async function lookupFileOf(root: Root, path: string): Promise<string | undefined> {
  return (await layoutOf(root, path))?.lookup
}

async function layoutOf(root: Root, path: string) {
  for (const layout of LAYOUTS) if (await root.exists(`${path}/${layout.folder}/nv.c`)) return layout
  for (const layout of LAYOUTS) if (await root.exists(`${path}/${layout.lookup}`)) return layout
  return undefined
}

async function kindOf(root: Root, path: string, isFull: boolean, flavour: Known<Flavour>): Promise<Known<TreeKind>> {
  if (isFull && (await root.exists(`${path}/src/nvidia`))) return 'full-source'
  if (!isKnown(flavour)) return flavour
  const binary = `${path}/nvidia/nv-kernel.o_binary`
  if (!(await root.exists(binary))) return unknown(`neither complete sources nor object code (/${binary})`)
  return flavour === 'open' ? 'open-interface+binary' : 'proprietary-interface+binary'
}

/** Determines the flavour by the licence of the module. Up to 535, it is in a separate file. */
export async function flavourOfTree(root: Root, folder: string): Promise<Known<Flavour>> {
  for (const name of ['nv.c', 'nv-frontend.c']) {
    const text = await root.text(`${folder}/${name}`, MAX_SOURCE_BYTES)
    const [, license] = /^\s*MODULE_LICENSE\("([^"\n]*)"\)/m.exec(text ?? '') ?? []
    if (license === 'Dual MIT/GPL') return 'open'
    if (license === 'NVIDIA') return 'proprietary'
  }
  return unknown(`/${folder} has no licence of the module`)
}

async function versionOfTree(root: Root, path: string): Promise<Known<string>> {
  const dkms = /^PACKAGE_VERSION="?([\w.]+)"?/m.exec((await root.text(`${path}/dkms.conf`)) ?? '')?.[1]
  const release = /^NVIDIA_VERSION\s*=\s*([\d.]+)/m.exec((await root.text(`${path}/version.mk`)) ?? '')?.[1]
  const name = /-([\d.]+)$/.exec(path)?.[1]
  return (
    [release, dkms, name].find((text) => text !== undefined && isDriverVersion(text)) ??
    unknown(`not in the files of /${path}`)
  )
}

async function shapeOfFile(
  root: Root,
  path: string,
  flavour: Flavour,
  table: readonly KnownShape[],
): Promise<Known<PfnShape>> {
  const source = await root.text(path, MAX_SOURCE_BYTES)
  if (source === undefined) return root.why(path)
  const ours = formOfOurs(source)
  if (ours !== undefined) return ours
  return shapeOf(source, flavour, table)?.shape ?? unknown(`/${path} matches no known source`)
}

/** Returns the output of `dkms status` for modules whose names begin with nvidia. */
export async function readDkms(root: Root): Promise<DkmsBuild[]> {
  const builds: DkmsBuild[] = []
  for (const name of (await root.list('var/lib/dkms')).filter((each) => each.startsWith('nvidia'))) {
    if (name === 'nvidia-fs') continue
    const folder = `var/lib/dkms/${name}`
    // The directory also has links to build results, 'kernel-6.12.43-x86_64'.
    for (const version of (await root.list(folder)).filter((each) => !each.startsWith('kernel-'))) {
      const source = await root.link(`${folder}/${version}/source`)
      const built = await builtFor(root, `${folder}/${version}`)
      const common = { name, version, source }
      if (built.length === 0) builds.push({ ...common, kernel: undefined, architecture: undefined, state: 'added' })
      for (const each of built) builds.push({ ...common, ...each, state: 'built' })
      if (builds.length > MAX_BUILDS) return builds.slice(0, MAX_BUILDS)
    }
  }
  return builds
}

async function builtFor(root: Root, folder: string): Promise<{ kernel: string; architecture: string }[]> {
  const found: { kernel: string; architecture: string }[] = []
  for (const kernel of (await root.list(folder)).filter((each) => /^\d/.test(each))) {
    for (const architecture of await root.list(`${folder}/${kernel}`)) {
      if (await root.exists(`${folder}/${kernel}/${architecture}/module`)) found.push({ kernel, architecture })
    }
  }
  return found
}
