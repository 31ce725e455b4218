import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'

const { GPUNVME_CHROMIUM } = process.env
const names = GPUNVME_CHROMIUM ? [GPUNVME_CHROMIUM] : ['chromium', 'chromium-browser', 'google-chrome']
const program = names.find((name) => spawnSync(name, ['--version'], { timeout: 30_000 }).status === 0)

/** Reason why there is no browser; undefined if there is one. */
export const chromiumMissing = program === undefined ? `[browser] ${names.join(', ')}: none of these runs` : undefined

const ANSWER_MS = 60_000
const switches = [
  ...['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars'],
  ...['--no-first-run', '--disable-background-networking', '--disable-breakpad', '--no-proxy-server'],
  // Messages are JSON, terminated by a zero byte, on file descriptors 3 and 4 of the browser.
  '--remote-debugging-pipe',
]

export interface BrowserEvent {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
}

type Answer = Readonly<Record<string, unknown>>

/** A headless Chromium with one page, controlled through the DevTools Protocol. */
export class Browser {
  /** Events of the page since it was opened. */
  readonly events: BrowserEvent[] = []
  private readonly child: ChildProcess
  private readonly profile: string
  private readonly waiting = new Map<number, { resolve: (answer: Answer) => void; reject: (error: Error) => void }>()
  private listeners: ((event: BrowserEvent) => void)[] = []
  private session: string | undefined
  private lastId = 0

  private constructor() {
    this.profile = mkdtempSync(join(tmpdir(), 'gpunvme-chromium-'))
    // A separate process group, to end all processes of the browser.
    this.child = spawn(program!, [...switches, `--user-data-dir=${this.profile}`, 'about:blank'], {
      detached: true,
      // It leaves a folder for temporary files behind when it is killed.
      env: { ...process.env, TMPDIR: this.profile },
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    })
    let text = ''
    const answers = this.child.stdio[4] as Readable
    answers.setEncoding('utf8').on('data', (part: string) => {
      const messages = (text + part).split('\0')
      text = messages.pop()!
      for (const message of messages) this.take(JSON.parse(message) as Message)
    })
    this.child.once('close', () => this.fail(new Error('the browser has ended')))
  }

  static async open(): Promise<Browser> {
    const browser = new Browser()
    const { targetId } = await browser.send('Target.createTarget', { url: 'about:blank' })
    const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true })
    browser.session = sessionId as string
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await browser.send(`${domain}.enable`)
    return browser
  }

  /** Sends a request. Returns its result. */
  send(method: string, params: object = {}): Promise<Answer> {
    const id = ++this.lastId
    const session = this.session === undefined ? {} : { sessionId: this.session }
    const requests = this.child.stdio[3] as Writable
    requests.write(`${JSON.stringify({ id, method, params, ...session })}\0`)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method}: no answer`)), ANSWER_MS)
      const ended = () => {
        clearTimeout(timer)
        this.waiting.delete(id)
      }
      this.waiting.set(id, {
        resolve: (answer) => {
          ended()
          resolve(answer)
        },
        reject: (error) => {
          ended()
          reject(error)
        },
      })
    })
  }

  /** Opens a page and waits until it is loaded. */
  async goTo(url: string): Promise<void> {
    this.events.length = 0
    const loaded = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${url} was not loaded`)), ANSWER_MS)
      this.listeners.push(({ method }) => {
        if (method !== 'Page.loadEventFired') return
        clearTimeout(timer)
        resolve()
      })
    })
    await this.send('Page.navigate', { url })
    await loaded
    this.listeners = []
  }

  /** Evaluates an expression in the page. Returns its value through JSON. */
  async evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', { expression, returnByValue: true })
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails))
    return (result as { value?: unknown }).value
  }

  close(): void {
    try {
      process.kill(-this.child.pid!, 'SIGKILL')
    } catch {
      // All processes have already ended.
    }
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }

  private take({ id, result, error, method, params }: Message): void {
    if (id === undefined) {
      const event = { method: method!, params: params ?? {} }
      this.events.push(event)
      for (const listener of this.listeners) listener(event)
    } else if (error !== undefined) this.waiting.get(id)?.reject(new Error(error.message))
    else this.waiting.get(id)?.resolve(result ?? {})
  }

  private fail(error: Error): void {
    for (const { reject } of [...this.waiting.values()]) reject(error)
  }
}

interface Message {
  readonly id?: number
  readonly result?: Answer
  readonly error?: { readonly message: string }
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
}
