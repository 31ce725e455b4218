import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { filesBelow, packages, root } from './packages.js'

/** The packages that the sources of each package may import: the arrows of the architecture, which point only down. */
const arrows: Record<string, readonly string[]> = {
  'nvme-spec': [],
  'nvme-sim': ['nvme-spec'],
  'host-driver': ['nvme-spec'],
  'cuda-native': ['nvme-spec'],
  'layer-loader': ['host-driver', 'nvme-spec'],
  tools: ['cuda-native', 'host-driver', 'layer-loader', 'nvme-sim', 'nvme-spec'],
}

/** Tests may also import all packages before their own in this order, so that no cycle can arise. */
const testOrder = ['nvme-spec', 'nvme-sim', 'host-driver', 'cuda-native', 'layer-loader', 'tools']

/** Examples count as tests, since tests run them. */
const isTest = (path: string) =>
  /\.(test|test-d|bench|fuzz)\.m?[jt]s$|(?<!\/src)\/(test|bench|examples)\/|\/gpu-check\//.test(path)

/** Folders of judges beside src/: cases, campaigns and calibration. They may import what tests may import. */
const judges = ['conformance', 'dst', 'calibration']
const isJudge = (path: string) => judges.includes(/\/packages\/[^/]+\/([^/]+)\//.exec(path)?.[1] ?? '')
const isProduct = (path: string) => !isTest(path) && !isJudge(path)

function importsOf(path: string): string[] {
  const text = readFileSync(path, 'utf8')
  // A specifier contains no space; a title that ends in 'from' is followed by one before the next quotation mark.
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^'\s]+)'/g)].map((match) => match[1]!)
}

test('every package has its place in the layering', () => {
  expect(packages.map(({ name }) => name).sort()).toEqual(Object.keys(arrows).sort())
  expect([...testOrder].sort()).toEqual(Object.keys(arrows).sort())
})

describe.each(packages)('$name', ({ name, folder, manifest }) => {
  const own = (names: Record<string, string> = {}) =>
    Object.keys(names).flatMap((key) => (key.startsWith('@gpunvme/') ? [key.slice('@gpunvme/'.length)] : []))
  const before = testOrder.slice(0, testOrder.indexOf(name))

  test('declares dependencies along the arrows only', () => {
    expect(arrows[name]).toEqual(expect.arrayContaining(own(manifest.dependencies)))
    expect(before).toEqual(expect.arrayContaining(own(manifest.devDependencies)))
  })

  test('has no script that runs at installation', () => {
    const lifecycle = ['preinstall', 'install', 'postinstall', 'prepare']
    expect(Object.keys(manifest.scripts ?? {}).filter((script) => lifecycle.includes(script))).toEqual([])
  })

  test('imports only along the arrows, and its tests only along their order', () => {
    const wrong = filesBelow(folder, ['.ts', '.mjs', '.js']).flatMap((path) => {
      const allowed = isTest(path) ? [name, ...before] : isJudge(path) ? before : arrows[name]!
      return importsOf(path)
        .flatMap((specifier) => /^@gpunvme\/([^/]+)/.exec(specifier)?.[1] ?? [])
        .filter((imported) => !allowed.includes(imported))
        .map((imported) => `${relative(root, path)} imports @gpunvme/${imported}`)
    })
    expect(wrong).toEqual([])
  })

  test('imports its own files by relative paths, and uses all declared dependencies', () => {
    const sources = filesBelow(folder, ['.ts']).filter(isProduct)
    const used = new Set(
      sources.flatMap(importsOf).flatMap((specifier) => /^@gpunvme\/([^/]+)/.exec(specifier)?.[1] ?? []),
    )
    expect(used).not.toContain(name)
    expect([...used].sort()).toEqual(own(manifest.dependencies).sort())
  })

  test('publishes judges that import declared packages only: dependencies, or optional peers before it in the order', () => {
    const { dependencies, peerDependencies, peerDependenciesMeta = {} } = manifest
    const optional = own(peerDependencies).filter((peer) => peerDependenciesMeta[`@gpunvme/${peer}`]?.optional)
    expect(own(peerDependencies)).toEqual(optional)
    expect(before).toEqual(expect.arrayContaining(optional))
    const published = filesBelow(folder, ['.ts']).filter(
      (path) => isJudge(path) && !isTest(path) && !path.startsWith(join(folder, 'calibration')),
    )
    const used = published.flatMap(importsOf).flatMap((specifier) => /^@gpunvme\/([^/]+)/.exec(specifier)?.[1] ?? [])
    expect([...own(dependencies), ...optional]).toEqual(expect.arrayContaining(used))
  })

  test('does not import judges from its product sources', () => {
    const wrong = filesBelow(join(folder, 'src'), ['.ts'])
      .filter(isProduct)
      .flatMap((path) => importsOf(path).map((specifier) => [path, join(dirname(path), specifier)] as const))
      .flatMap(([path, imported]) =>
        isJudge(imported) ? [`${relative(root, path)} imports ${relative(root, imported)}`] : [],
      )
    expect(wrong).toEqual([])
  })

  test('imports files of other packages by path only from tests, and never from dist/', () => {
    const wrong = filesBelow(folder, ['.ts', '.mjs', '.js']).flatMap((path) =>
      importsOf(path)
        .map((specifier) => [specifier, relative(join(root, 'packages'), join(dirname(path), specifier))] as const)
        .filter(([specifier, to]) => specifier.startsWith('.') && !to.startsWith('..') && !to.startsWith(`${name}/`))
        .filter(([, to]) => !isTest(path) || to.includes('/dist/'))
        .map(([specifier]) => `${relative(root, path)} imports ${specifier}`),
    )
    expect(wrong).toEqual([])
  })
})

test('nvme-spec imports neither Node modules nor packages', () => {
  const spec = packages.find(({ name }) => name === 'nvme-spec')!
  const sources = filesBelow(`${spec.folder}/src`, ['.ts']).filter(isProduct)
  expect(sources.flatMap(importsOf).filter((specifier) => !specifier.startsWith('.'))).toEqual([])
})

interface Folders {
  readonly name: string
  /** From low to high: each imports only from lower ones, including types. */
  readonly folders: readonly string[]
  /** Files beside the folders that all may import. */
  readonly base: readonly string[]
}

const ordered: readonly Folders[] = [
  {
    name: 'host-driver',
    folders: [
      ...['machine-files', 'guard', 'pci', 'memory', 'queues', 'engine', 'commands', 'admin', 'events', 'bring-up'],
      ...['transport', 'transport/kmod', 'transport/qtest', 'transport/vfio', 'transport/vfio-user', 'wrap'],
      ...['recovery', 'execution', 'running', 'namespace', 'management'],
    ],
    base: ['check-options.ts', 'error.ts', 'wait.ts'],
  },
  {
    name: 'tools',
    folders: [
      ...[
        'terminal',
        'command-line',
        'block-io',
        'decode',
        'machine',
        'machine/views',
        'tracing',
        'report',
        'report/html',
      ],
      ...['binding', 'drive', 'list', 'nvidia', 'p2p', 'admin', 'model', 'serving', 'bench'],
      ...['doctor', 'doctor/checks', 'doctor/report', 'rig', 'loading', 'first-light', 'completion', 'commands'],
    ],
    base: [],
  },
]

test.each(ordered)('every folder of $name has its place in the order', ({ name, folders }) => {
  const source = join(root, 'packages', name, 'src')
  const found = filesBelow(source, ['.ts']).filter((path) => !isTest(path))
  expect(folders).toEqual(
    expect.arrayContaining(
      [...new Set(found.map((path) => relative(source, dirname(path))))].filter((folder) => folder !== ''),
    ),
  )
})

describe.each(
  ordered.flatMap(({ name, folders, base }) =>
    folders.map((folder, index) => ({ name, folder, lower: folders.slice(0, index), base })),
  ),
)('the folder $folder of $name', ({ name, folder, lower, base }) => {
  const source = join(root, 'packages', name, 'src')
  const graph = new Map(
    filesBelow(join(source, folder), ['.ts'])
      .filter((path) => dirname(path) === join(source, folder) && !isTest(path))
      .map((path): [string, string[]] => [
        relative(source, path),
        importsOf(path)
          .filter((specifier) => specifier.startsWith('.'))
          .map((specifier) => relative(source, join(dirname(path), specifier.replace(/\.js$/, '.ts')))),
      ]),
  )

  test('imports from lower folders only', () => {
    const allowed = [folder, ...lower]
    const wrong = [...graph].flatMap(([path, imported]) =>
      imported
        .filter((other) => !allowed.includes(dirname(other)) && !base.includes(other))
        .map((other) => `${path} imports ${other}`),
    )
    expect(graph.size).toBeGreaterThan(0)
    expect(wrong).toEqual([])
  })

  test('has no cycle of imports', () => {
    const leadsTo = (from: string, seen = new Set<string>()): Set<string> => {
      for (const other of graph.get(from) ?? []) {
        if (seen.has(other)) continue
        seen.add(other)
        leadsTo(other, seen)
      }
      return seen
    }
    expect([...graph.keys()].filter((path) => leadsTo(path).has(path))).toEqual([])
  })
})
