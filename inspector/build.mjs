// Builds the inspector: one self-contained HTML file, whose Content Security Policy blocks network requests.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { build } from 'rolldown'

const folder = import.meta.dirname
const read = (name) => readFileSync(join(folder, name), 'utf8')

const { output } = await build({
  input: join(folder, 'page.ts'),
  write: false,
  platform: 'browser',
  logLevel: 'silent',
  output: { format: 'iife', minify: true, comments: false },
})
const [{ code, imports, modules }, ...more] = output
if (more.length > 0 || imports.length > 0)
  throw new Error(
    `expected one file without imports, got ${JSON.stringify([imports, more.map(({ fileName }) => fileName)])}`,
  )
const allowed = [`${folder}/`, join(folder, '..', 'packages', 'nvme-spec', 'dist/')]
const foreign = Object.keys(modules).filter(
  (path) => !path.startsWith('\0') && !allowed.some((one) => path.startsWith(one)),
)
if (foreign.length > 0) throw new Error(`the inspector may import only nvme-spec, got ${foreign.join(', ')}`)

// The text of an inline script ends at the first `</script`.
const script = code.replaceAll('</script', '<\\/script')
const style = read('page.css')
const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)}`,
  `style-src ${hash(style)}`,
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

// Replacer functions, since `$` is special in a replacement string. The hashes cover everything between the tags.
const html = read('page.html')
  .replace('POLICY', () => policy)
  .replace(/<style>[^<]*<\/style>/, () => `<style>${style}</style>`)
  .replace(/<script>[^<]*<\/script>/, () => `<script>${script}</script>`)
const file = join(folder, 'dist', 'inspector.html')
mkdirSync(join(folder, 'dist'), { recursive: true })
writeFileSync(file, html)
console.log(`${relative(process.cwd(), file)}: ${html.length} bytes`)
