// One site for docs/ and the API of all packages: every entry point that a package.json exports is a module, named as
// it is imported.
import { existsSync, readFileSync, readdirSync } from 'node:fs'

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))

// The comments above the exports of nvme-spec, in order: scripts/typedoc-declarations.mjs puts each export in its group.
const wireFormat = readFileSync(new URL('packages/nvme-spec/src/index.ts', import.meta.url), 'utf8')
const groups = Array.from(wireFormat.matchAll(/^\/\/ (.*)$/gm), ([, title]) => title)

const manifests = readdirSync(new URL('packages/', import.meta.url)).map((folder) => ({
  folder,
  ...read(`packages/${folder}/package.json`),
}))

/**
 * Returns the source of a declaration file. Packages with judges beside src/ compile all of their folders, each to a
 * folder of its name in dist/; the others compile src/ to dist/ itself.
 */
function sourceOf(folder, types) {
  const path = types.replace('./dist/', '').replace('.d.ts', '.ts')
  const inFolder = `packages/${folder}/${path}`
  return existsSync(new URL(inFolder, import.meta.url)) ? inFolder : `packages/${folder}/src/${path}`
}

/** Source files of entry points, by the name that imports them. */
export const entries = Object.fromEntries(
  manifests.flatMap(({ folder, name, exports }) =>
    Object.entries(exports)
      .filter(([, { types }]) => types !== undefined)
      .map(([path, { types }]) => {
        return [name + path.slice(1), sourceOf(folder, types)]
      }),
  ),
)

export default {
  name: 'gpunvme',
  tsconfig: 'tsconfig.docs.json',
  // Packages import each other's sources here: a type has one page, to which all packages link.
  compilerOptions: { paths: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, [`./${file}`]])) },
  entryPoints: Object.values(entries),
  plugin: ['./scripts/typedoc-declarations.mjs', './scripts/typedoc-pages.mjs'],
  categoryOrder: [...groups, '*'],
  readme: 'README.md',
  projectDocuments: [
    'docs/README.md',
    'docs/start.md',
    'docs/concepts/*.md',
    'docs/how-to/*.md',
    'docs/reference/*.md',
    'docs/evidence/*.md',
    'docs/evidence/hardware/*.md',
    'docs/decisions.md',
    'docs/style.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'packages/*/README.md',
    'packages/*/docs/*.md',
    'kmod/README.md',
    'scripts/mutants/README.md',
  ],
  out: 'docs/api',
  highlightLanguages: ['bash', 'console', 'c', 'cpp', 'html', 'javascript', 'json', 'typescript'],
  disableGit: true,
  gitRevision: 'main',
  sourceLinkTemplate: 'https://github.com/gpunvme/gpunvme/blob/{gitRevision}/{path}#L{line}',
  requiredToBeDocumented: ['Class', 'Enum', 'Function', 'Interface', 'TypeAlias', 'Variable'],
  packagesRequiringDocumentation: manifests.map(({ name }) => name),
  // Other packages derive types from these methods of declarations.
  intentionallyNotExported: [
    ...['create', 'decode', 'fields'].map((name) => `StructMethods.${name}`),
    'WordMethods.decode',
    // Rows that several declarations share.
    ...['commandFields', 'commonHeader', 'messageHeader'],
  ],
  validation: { notExported: true, notDocumented: true, invalidLink: true, invalidPath: true },
  treatWarningsAsErrors: true,
}
