// Records a run of `npm run demo` as an animated SVG: docs/images/demo.svg. Build first, so that the recording shows
// the demo and not the compiler. Each line appears when it was printed; viewers that prefer less motion see all lines
// at once.
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const WIDTH = 760
const LINE = 17
const COLUMN = 7.05
const [LEFT, TOP] = [16, 52]

const root = join(import.meta.dirname, '..')
const startMs = performance.now()
const lines = []
const demo = spawn('npm', ['run', '--silent', 'demo'], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
for (const stream of [demo.stdout, demo.stderr]) {
  let rest = ''
  stream.setEncoding('utf8').on('data', (text) => {
    const parts = (rest + text).split('\n')
    rest = parts.pop()
    for (const line of parts) lines.push({ line, atMs: performance.now() - startMs })
  })
}
demo.on('exit', (status) => {
  if (status !== 0) {
    for (const { line } of lines) console.error(line)
    process.exit(1)
  }
  const path = join(root, 'docs/images/demo.svg')
  writeFileSync(path, render(lines))
  console.log(`${lines.length} lines in ${path}`)
})

/** @returns an SVG of these lines. Line breaks at the width of the picture, as in a terminal. */
function render(recorded) {
  const columns = Math.floor((WIDTH - 2 * LEFT) / COLUMN)
  const rows = recorded.flatMap(({ line, atMs }) =>
    (line.match(new RegExp(`.{1,${columns}}(?: |$)|.{1,${columns}}`, 'gu')) ?? ['']).map((text) => ({ text, atMs })),
  )
  const height = TOP + rows.length * LINE + 12
  const texts = rows.map(
    ({ text, atMs }, index) =>
      `<text class="line" style="animation-delay:${Math.round(atMs)}ms" x="${LEFT}" y="${TOP + (index + 1) * LINE}">${escape(text)}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title">
<title id="title">Output of npm run demo</title>
<style>
  .page { fill: #f6f8fa; stroke: #d0d7de }
  text { font: 11.7px ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; fill: #1f2328; white-space: pre }
  .prompt { font-weight: 600 }
  .line { animation: appear 1ms both }
  @keyframes appear { from { opacity: 0 } to { opacity: 1 } }
  @media (prefers-reduced-motion: reduce) { .line { animation: none } }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; stroke: #3d444d }
    text { fill: #e6edf3 }
  }
</style>
<rect class="page" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8"/>
<circle cx="20" cy="18" r="5" fill="#ff5f57"/><circle cx="38" cy="18" r="5" fill="#febc2e"/><circle cx="56" cy="18" r="5" fill="#28c840"/>
<text class="prompt" x="${LEFT}" y="${TOP}">$ npm run demo</text>
${texts.join('\n')}
</svg>
`
}

function escape(text) {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/ /g, '&#160;')
}
