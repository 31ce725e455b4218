import type { Readable, Writable } from 'node:stream'
import { DriverError } from '../../error.js'

const ANSWER_MS = 10_000
const SHOWN_CHARACTERS = 200

interface Waiter {
  readonly returned: (value: unknown) => void
  readonly failed: (reason: string) => void
}

/** Version of QEMU, from its greeting. */
export interface QemuVersion {
  readonly major: number
  readonly minor: number
  readonly micro: number
}

/** A message of QEMU: its greeting, an event, or the result of a command. */
type Message =
  | { readonly QMP: { readonly version: { readonly qemu: QemuVersion } } }
  | { readonly event: string; readonly data?: unknown }
  | { readonly id: number; readonly error: { readonly class: string; readonly desc: string } }
  | { readonly id: number; readonly return: unknown }

/** Parses a line; undefined if it is none of these. */
function messageIn(line: string): Message | undefined {
  try {
    const message = JSON.parse(line) as Message
    if ('error' in message && typeof message.error.desc !== 'string') return undefined
    if (!('QMP' in message)) return message
    const { major, minor } = message.QMP.version.qemu
    return typeof major === 'number' && typeof minor === 'number' ? message : undefined
  } catch {
    // Not JSON, not an object, or without required members.
    return undefined
  }
}

/**
 * QEMU's monitor: one JSON object per line, for everything without a register. Every wait ends, at the latest with
 * QEMU.
 */
export class Qmp {
  /** Resolves with QEMU's version at its greeting, which may never come. */
  readonly greeting: Promise<QemuVersion>
  readonly #to: Writable
  readonly #answers = new Map<number, Waiter>()
  readonly #events = new Map<string, Set<(data: unknown) => void>>()
  #nextId = 1
  #text = ''
  #greeted: (version: QemuVersion) => void = () => undefined
  #isOver = false

  /** `isNoQmp` receives the first line that is not QMP; later lines are ignored. */
  constructor(to: Writable, from: Readable, ended: Promise<void>, isNoQmp: (line: string) => void) {
    this.#to = to
    this.greeting = new Promise((resolve) => {
      this.#greeted = resolve
    })
    from.setEncoding('utf8').on('data', (text: string) => {
      const lines = (this.#text + text).split('\n')
      this.#text = lines.pop()!
      for (const line of lines) {
        if (this.#isOver || line.trim() === '') continue
        const message = messageIn(line)
        if (message !== undefined) this.#receive(message)
        else {
          this.#isOver = true
          isNoQmp(line.slice(0, SHOWN_CHARACTERS))
        }
      }
    })
    void ended.then(() => {
      this.#isOver = true
      for (const { failed } of this.#answers.values()) failed('QEMU has ended')
      this.#answers.clear()
    })
  }

  /** Returns the result of a command. @throws DriverError (QEMU_MONITOR) if QEMU refuses it, does not answer in 10 s, or ends. */
  execute(command: string, args: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    if (this.#isOver) return Promise.reject(monitorFailed(command, 'QEMU has ended'))
    const id = this.#nextId++
    return new Promise<unknown>((resolve, reject) => {
      const settle = (how: () => void) => {
        clearTimeout(timer)
        this.#answers.delete(id)
        how()
      }
      const failed = (reason: string) => settle(() => reject(monitorFailed(command, reason)))
      const timer = setTimeout(() => failed(`no answer in ${ANSWER_MS / 1000} s`), ANSWER_MS)
      this.#answers.set(id, { returned: (value) => settle(() => resolve(value)), failed })
      this.#to.write(`${JSON.stringify({ execute: command, arguments: args, id })}\n`)
    })
  }

  /**
   * Performs an action and waits up to 10 s for the event that it causes.
   * @throws DriverError (QEMU_MONITOR) if the event does not come.
   */
  async untilEvent(name: string, isIt: (data: unknown) => boolean, cause: () => unknown): Promise<void> {
    const listeners = this.#events.get(name) ?? new Set()
    this.#events.set(name, listeners)
    let listener: (data: unknown) => void = () => undefined
    let timer: NodeJS.Timeout | undefined
    const happened = new Promise<boolean>((resolve) => {
      listener = (data) => {
        if (isIt(data)) resolve(true)
      }
      timer = setTimeout(resolve, ANSWER_MS, false)
    })
    listeners.add(listener)
    try {
      await cause()
      if (!(await happened)) throw monitorFailed(name, `no such event in ${ANSWER_MS / 1000} s`)
    } finally {
      clearTimeout(timer)
      listeners.delete(listener)
    }
  }

  #receive(message: Message): void {
    if ('QMP' in message) {
      this.#greeted(message.QMP.version.qemu)
      return
    }
    if ('event' in message) {
      for (const listener of this.#events.get(message.event) ?? []) listener(message.data)
      return
    }
    const waiter = this.#answers.get(message.id)
    if ('error' in message) {
      const { class: kind, desc } = message.error
      waiter?.failed(`${kind}: ${desc}`)
    } else waiter?.returned(message.return)
  }
}

function monitorFailed(command: string, reason: string): DriverError {
  return new DriverError('ERR_GPUNVME_QEMU_MONITOR', 'failure', `QEMU's monitor did not execute ${command}`, {
    facts: [reason],
    next: "see the QEMU Machine Protocol's reference of this version for the command and its arguments",
  })
}
