// Builds the playground: one HTML file with everything in it, which needs no server and no network.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { build } from 'rolldown'

const folder = import.meta.dirname
const read = (name) => readFileSync(join(folder, name), 'utf8')

const { output } = await build({
  input: join(folder, 'page.ts'),
  write: false,
  platform: 'browser',
  // The loader's entry mentions modules of Node in parts that the page does not use; what is left of them is checked below.
  logLevel: 'silent',
  output: { format: 'iife', minify: true, comments: false },
})
if (output.length !== 1 || output[0].imports.length > 0)
  throw new Error(
    `expected one file without imports, got ${JSON.stringify(output.map(({ fileName, imports }) => [fileName, imports]))}`,
  )
const program = deflateRawSync(output[0].code, { level: 9 }).toString('base64')

// By functions: a replacement text would have its `$` interpreted.
const html = read('page.html')
  .replace('/* STYLE */', () => read('page.css'))
  .replace('/* PROGRAM */', () => program)
const file = join(folder, 'dist', 'playground.html')
mkdirSync(join(folder, 'dist'), { recursive: true })
writeFileSync(file, html)
console.log(`${relative(process.cwd(), file)}: ${html.length} bytes (${output[0].code.length} of code, compressed)`)
