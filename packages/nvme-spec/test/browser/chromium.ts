import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const { GPUNVME_CHROMIUM } = process.env
const names = GPUNVME_CHROMIUM ? [GPUNVME_CHROMIUM] : ['chromium', 'chromium-browser', 'google-chrome']
const program = names.find((name) => spawnSync(name, ['--version'], { timeout: 30_000 }).status === 0)

/** Why there is no browser here; undefined where there is one. */
export const chromiumMissing = program === undefined ? `[browser] ${names.join(', ')}: none of these runs` : undefined

const TIMEOUT_MS = 50_000
const switches = [
  ...['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  // Nothing that asks the network, keeps state, or waits for a person.
  ...['--no-first-run', '--disable-background-networking', '--disable-breakpad', '--no-proxy-server'],
]

/**
 * The DOM as HTML, after a headless Chromium has loaded `/` and the module scripts in it from a server on this
 * machine: modules may not be loaded from files. `pages` are the texts served, by their paths; `more` are switches.
 */
export async function domInChromium(
  pages: Readonly<Record<string, string>>,
  { fragment = '', more = [] }: { readonly fragment?: string; readonly more?: readonly string[] } = {},
): Promise<string> {
  const profile = mkdtempSync(join(tmpdir(), 'gpunvme-chromium-'))
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    const text = Object.hasOwn(pages, path) ? pages[path] : undefined
    response.setHeader('Content-Type', path.endsWith('.js') ? 'text/javascript' : 'text/html; charset=utf-8')
    response.writeHead(text === undefined ? 404 : 200).end(text)
  })
  try {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const address = `http://127.0.0.1:${port}/${fragment}`
    return await dumpDom(profile, [...switches, ...more, `--user-data-dir=${profile}`, '--dump-dom', address])
  } finally {
    server.close()
    server.closeAllConnections()
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
}

async function dumpDom(profile: string, args: readonly string[]): Promise<string> {
  // A killed browser leaves a folder for temporary files behind.
  const env = { ...process.env, TMPDIR: profile }
  // A process group of its own, since a browser is many processes and all of them have to end.
  const child = spawn(program!, args, { detached: true, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let dom = ''
  let complaints = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (dom += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text))
  const endGroup = () => {
    try {
      process.kill(-child.pid!, 'SIGKILL')
    } catch {
      // All of it has ended already.
    }
  }
  const timer = setTimeout(endGroup, TIMEOUT_MS)
  try {
    // What outlives the first process still holds the pipes; the end of both is awaited for the whole of the DOM.
    child.once('exit', endGroup)
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
    if (code !== 0) throw new Error(`${program!} ended with ${code ?? signal ?? 'nothing'}:\n${complaints}`)
    return dom
  } finally {
    clearTimeout(timer)
  }
}
