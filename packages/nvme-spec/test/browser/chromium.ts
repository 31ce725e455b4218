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

/** Reason to skip if no browser is installed; otherwise undefined. */
export const chromiumMissing = program === undefined ? `[browser] ${names.join(', ')}: none of these runs` : undefined

const TIMEOUT_MS = 50_000
const switches = [
  ...['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  // No network access, persistent state or prompts.
  ...['--no-first-run', '--disable-background-networking', '--disable-breakpad', '--no-proxy-server'],
]

/**
 * Loads `/` and its module scripts in a headless Chromium, and returns the DOM as HTML. A local server is used because
 * modules cannot be loaded from files. `pages` are the texts served, by path; `more` are further switches.
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
  // A killed browser leaves its temporary folder behind.
  const env = { ...process.env, TMPDIR: profile }
  // A separate process group, to end all processes of the browser.
  const child = spawn(program!, args, { detached: true, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let dom = ''
  let complaints = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (dom += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text))
  const endGroup = () => {
    try {
      process.kill(-child.pid!, 'SIGKILL')
    } catch {
      // The group has already ended.
    }
  }
  const timer = setTimeout(endGroup, TIMEOUT_MS)
  try {
    // Processes that outlive the first one keep the pipes open. The DOM is complete when the pipes are closed.
    child.once('exit', endGroup)
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
    if (code !== 0) throw new Error(`${program!} ended with ${code ?? signal ?? 'nothing'}:\n${complaints}`)
    return dom
  } finally {
    clearTimeout(timer)
  }
}
