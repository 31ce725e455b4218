// Lists bench files, and runs one of them in its own process.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Returns every bench of the packages under `root`: its package, its file name, and the `id` that `--only` matches. */
export function benchFiles(root) {
  return readdirSync(join(root, 'packages')).flatMap((name) => {
    const folder = join(root, 'packages', name, 'bench')
    const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.mjs')) : []
    return files.map((file) => ({ name, file, id: `${name}/${file.slice(0, -'.mjs'.length)}` }))
  })
}

/**
 * Runs the bench at `path` and returns its figures. It exports `bench()`, which returns an array of
 * { name, value, unit, goal?, met?, note? }; `goal` requires `met`.
 */
export function figuresOf(path) {
  const script = `const { bench } = await import(${JSON.stringify(pathToFileURL(path).href)}); console.log(JSON.stringify(await bench()))`
  const { status, signal, stdout } = spawnSync(process.execPath, ['--expose-gc', '--input-type=module', '-e', script], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (status !== 0) throw new Error(`${path} ended with ${signal ?? `exit status ${status}`}`)
  const figures = JSON.parse(stdout)
  for (const { name, value, goal, met } of figures) {
    const sound =
      typeof value === 'number' && (goal === undefined || (typeof goal === 'string' && typeof met === 'boolean'))
    if (!sound)
      throw new TypeError(
        `${path}: figure ${JSON.stringify(name)}: expected a numeric value, and \`met\` beside a goal`,
      )
  }
  return figures
}
