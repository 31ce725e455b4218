import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'rolldown'

/** A bundle that a web page would load. */
export interface Bundle {
  readonly code: string
  /** Size after gzip at the highest level. */
  readonly gzipBytes: number
  /** Bytes from each file, before minification. */
  readonly files: Readonly<Record<string, number>>
}

/**
 * Bundles `entry`, the text of a module, into one minified module. The package is resolved by its name and `exports`,
 * so the bundle contains the last build in dist.
 * @param root folder whose dependencies the entry may import; by default this package, which may import itself.
 */
export async function bundle(entry: string, root = join(import.meta.dirname, '..', '..')): Promise<Bundle> {
  // A virtual file in that folder, so that package names resolve.
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
    // Annotations for tree shaking are not needed in the result.
    output: { format: 'esm', minify: true, comments: false },
  })
  const [{ code, modules }, ...more] = output
  if (more.length > 0) throw new Error(`expected one file, got ${output.map(({ fileName }) => fileName).join(', ')}`)
  const files = Object.entries(modules)
    .filter(([, { renderedLength }]) => renderedLength > 0)
    .map(([path, { renderedLength }]) => [path.slice(root.length + 1), renderedLength] as const)
  return { code, gzipBytes: gzipSync(code, { level: 9 }).length, files: Object.fromEntries(files) }
}
