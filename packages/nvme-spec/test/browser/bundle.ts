import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'rolldown'

/** What a web page would load. */
export interface Bundle {
  readonly code: string
  /** After gzip at its highest level, as a server sends it. */
  readonly gzipBytes: number
  /** Bytes that each file adds, before they are made small: where a bundle's size comes from. */
  readonly files: Readonly<Record<string, number>>
}

/**
 * One minified module made of `entry`, a module's text, by a standard bundler as an application would use it: the
 * package is found by its name, through its `exports`, so this is what was built last into dist.
 * @param root the folder whose dependencies the entry may import; this package, which may import itself, when not given.
 */
export async function bundle(entry: string, root = join(import.meta.dirname, '..', '..')): Promise<Bundle> {
  // Inside that folder, where the names resolve; there is no such file.
  const id = join(root, 'entry-of-bundle.js')
  const { output } = await build({
    input: id,
    write: false,
    platform: 'browser',
    // Modules of Node are reported as unresolved; `nodeNeeds` finds them in the code.
    logLevel: 'silent',
    plugins: [
      {
        name: 'entry',
        resolveId: (source) => (source === id ? id : undefined),
        load: (path) => (path === id ? entry : undefined),
      },
    ],
    // The annotations that tree shaking lives on have done their work; a page has no use for them.
    output: { format: 'esm', minify: true, comments: false },
  })
  const [{ code, modules }, ...more] = output
  if (more.length > 0) throw new Error(`expected one file, got ${output.map(({ fileName }) => fileName).join(', ')}`)
  const files = Object.entries(modules)
    .filter(([, { renderedLength }]) => renderedLength > 0)
    .map(([path, { renderedLength }]) => [path.slice(root.length + 1), renderedLength] as const)
  return { code, gzipBytes: gzipSync(code, { level: 9 }).length, files: Object.fromEntries(files) }
}
