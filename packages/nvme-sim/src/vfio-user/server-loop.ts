import { closeSync, readSync } from 'node:fs'
import type { VfioUserHost } from '@gpunvme/nvme-spec/transport'
import type { Diagnostics } from '../controller/diagnostics.js'
import type { IdlePolicy } from '../realtime/options.js'
import type { WallClock } from '../realtime/wall-clock.js'
import { isSystemError } from './limits.js'
import { MessageReader } from './message-reader.js'
import { CLOSING, REQUESTS, STATE } from './options.js'
import { Reply } from './reply.js'
import type { Session } from './session.js'
import type { Connections } from './statistics.js'

/** A client that has all replies together wait for so long, before nothing more is there of it, is sent away. */
const SEND_LIMIT_NS = 1_000_000_000
/** A reply that takes so long had to wait; one that takes less was only sent. */
const WAIT_MS = 1
/** And one that has not agreed on a version by then: others wait. */
const VERSION_LIMIT_NS = 10_000_000_000
/** How long no client is looked for after one could not be taken: whatever is short may be back by then. */
const PAUSE_NS = 1_000_000_000
/** Messages that are answered before events, doorbells and questions have their turn. */
const MESSAGES_PER_TURN = 64
/** The longest sleep: whatever is to wake the thread does. */
const LONGEST_SLEEP_NS = 1_000_000_000
/** Turns that find nothing between two looks for messages, where doorbells are polled. */
const TURNS_PER_LOOK = 32
/** Turns between two looks at doorbells of queues that do not exist. */
const TURNS_PER_SCAN = 1024
/** Bits of what `poll` gives, in the order of what is watched. */
const READABLE = { client: 1, wake: 2, unmask: 4 } as const

/** What the loop works on. */
export interface ServerLoopParts {
  readonly host: VfioUserHost
  readonly listener: number
  /** STATE and REQUESTS. */
  readonly control: Int32Array
  /** An eventfd that is written to when either has changed. */
  readonly wake: number
  readonly clock: WallClock
  readonly diagnostics: Diagnostics
  readonly idle: IdlePolicy
  /** A client is there: the session that serves it. */
  readonly welcome: () => Served
  /** Answers questions. */
  readonly answer: () => void
}

/** What serves one client. */
export interface Served {
  readonly session: Session
  /** Doorbells that have to be polled. */
  readonly doorbells: { poll(): boolean; scan(): boolean } | undefined
  /** Signals the interrupts that have arrived. */
  flush(): void
  /** An eventfd by which the client unmasks INTx, or -1; and what is done when it was signalled. */
  unmaskDescriptor(): number
  takeUnmask(): void
  /** The client is gone: nothing of it is kept. */
  leave(): void
}

/** The server's thread: takes messages, runs what is due, and sleeps until there is something of either. */
export class ServerLoop implements Connections {
  clients = 0
  messages = 0
  private readonly parts: ServerLoopParts
  private readonly reader = new MessageReader()
  private readonly reply = new Reply()
  private readonly received = new Int32Array(17)
  private readonly sent = new Int32Array(1)
  private readonly watched: Int32Array
  private readonly drained = new Uint8Array(8)
  private client: number | undefined
  private served: Served | undefined
  /** There may be whole messages that were received and not handled. */
  private isLeft = false
  /** How long the client may still have replies wait. */
  private patienceNs = SEND_LIMIT_NS
  /**
   * What this process had lost when the client came: where it loses more, the client has cut its files, and what replaces
   * them is our memory. Where several servers are in one process, each takes it for its own client's.
   */
  private lostBytes = 0
  /** When a client that has not agreed on a version is sent away; without a client, when the next one is looked for. */
  private deadlineNs = 0
  private answered = 0
  private turns = 0
  private empty = 0
  private sleepNs = 0

  constructor(parts: ServerLoopParts) {
    this.parts = parts
    this.watched = Int32Array.of(parts.listener, parts.wake, -1)
  }

  get connected(): boolean {
    return this.client !== undefined
  }

  /** Returns when the server is to end. */
  run(): void {
    const { control } = this.parts
    while (Atomics.load(control, STATE) !== CLOSING) {
      if (this.turn()) this.empty = 0
      else this.rest()
    }
  }

  /** Sends the client away, if there is one. */
  close(): void {
    if (this.client !== undefined) this.farewell()
  }

  /** One look at everything; false where there was nothing to do. Messages come before what they lead to. */
  private turn(): boolean {
    const { clock } = this.parts
    const { client } = this
    // Asking the system for messages takes longer than looking at doorbells, which two busy threads would wait for.
    const isLooking = this.served?.doorbells === undefined || this.empty % TURNS_PER_LOOK === 0
    let isBusy = client === undefined ? this.welcomeNext() : isLooking && this.takeMessages(client)
    const doorbells = this.served?.doorbells
    if (doorbells?.poll()) isBusy = true
    if (doorbells !== undefined && ++this.turns % TURNS_PER_SCAN === 0 && doorbells.scan()) isBusy = true
    if (clock.run()) isBusy = true
    this.served?.flush()
    if (isBusy && this.client !== undefined && this.parts.host.lostForeignBytes() !== this.lostBytes)
      this.sendAway('it cut memory that it had mapped')
    this.answer()
    return isBusy
  }

  /** A client that never speaks keeps others from being served. */
  private isTooLate(): boolean {
    return this.served?.session.isOpen === false && this.parts.clock.now() >= this.deadlineNs
  }

  private welcomeNext(): boolean {
    const { host, listener, welcome, clock } = this.parts
    if (clock.now() < this.deadlineNs) return false
    let client: number | undefined
    try {
      client = host.accept(listener)
      if (client === undefined) return false
      this.served = welcome()
    } catch (error) {
      if (client !== undefined) closeSync(client)
      this.pause(error)
      return false
    }
    this.client = client
    this.clients++
    this.lostBytes = host.lostForeignBytes()
    this.watched[0] = client
    this.patienceNs = SEND_LIMIT_NS
    this.deadlineNs = clock.now() + VERSION_LIMIT_NS
    return true
  }

  /** The system is short of what a client takes, as descriptors or memory: it may be back after a while. */
  private pause(error: unknown): void {
    const { clock, diagnostics } = this.parts
    if (!isSystemError(error)) throw error
    diagnostics.report(`a client could not be served: ${error.message}`)
    this.deadlineNs = clock.now() + PAUSE_NS
    // It would wake the loop at once, again and again.
    this.watched[0] = -1
  }

  private takeMessages(client: number): boolean {
    const { reader, received } = this
    if (this.isLeft) {
      this.handleSome(client)
      return true
    }
    const count = this.receive(client)
    if (count < 0) {
      this.patienceNs = SEND_LIMIT_NS
      if (!this.isTooLate()) return false
      this.sendAway('it did not agree on a version in time')
      return true
    }
    if (count === 0) {
      this.farewell()
      return true
    }
    if (!reader.add(count, received)) {
      this.sendAway('it sent more descriptors than a message may have')
      return true
    }
    // What a message starts is never early.
    this.parts.clock.tick()
    this.handleSome(client)
    return true
  }

  /** Handles what was received, as far as others need not wait for it. */
  private handleSome(client: number): void {
    const { reader, reply, served } = this
    const { message } = reader
    const { session } = served!
    this.isLeft = true
    for (let i = 0; i < MESSAGES_PER_TURN && !this.isWanted(); i++) {
      const next = reader.next()
      if (next === false) {
        this.isLeft = false
        return
      }
      this.messages++
      if (typeof next === 'string') session.reject(message, next)
      const answer = typeof next === 'string' ? reply.refuse(message) : session.handle(message, reply)
      message.closeDescriptors()
      if (answer !== undefined && !this.send(client, answer)) return
      if (session.end !== undefined) {
        this.farewell()
        return
      }
    }
  }

  /** Whether the server is to end, or was asked something. */
  private isWanted(): boolean {
    const { control } = this.parts
    return Atomics.load(control, STATE) === CLOSING || Atomics.load(control, REQUESTS) !== this.answered
  }

  /** As `SocketHost.receive`; 0 too where the connection is broken. */
  private receive(client: number): number {
    try {
      return this.parts.host.receive(client, this.reader.space(), this.received, 'memory-and-eventfds')
    } catch (error) {
      if (!isSystemError(error)) throw error
      this.parts.diagnostics.report(`client was sent away: ${error.message}`)
      return 0
    }
  }

  /** False where the client takes nothing any more: it is gone then. */
  private send(client: number, answer: Uint8Array): boolean {
    const { descriptor } = this.reply
    this.sent[0] = descriptor
    const startMs = performance.now()
    try {
      this.parts.host.send(client, answer, descriptor < 0 ? undefined : this.sent, this.patienceNs)
      const tookMs = performance.now() - startMs
      if (tookMs >= WAIT_MS) this.patienceNs = Math.max(1, this.patienceNs - Math.floor(tookMs * 1e6))
      return true
    } catch (error) {
      if (!isSystemError(error)) throw error
      this.sendAway(`it takes no reply: ${error.message}`)
      return false
    }
  }

  private sendAway(why: string): void {
    this.parts.diagnostics.report(`client was sent away: ${why}`)
    this.farewell()
  }

  /** The client is gone, or is to go. */
  private farewell(): void {
    const { client, served } = this
    this.client = undefined
    this.served = undefined
    this.watched[0] = this.parts.listener
    this.isLeft = false
    this.deadlineNs = 0
    this.reader.clear()
    served!.leave()
    closeSync(client!)
  }

  private answer(): void {
    const requests = Atomics.load(this.parts.control, REQUESTS)
    if (requests === this.answered) return
    this.answered = requests
    this.parts.answer()
  }

  /** Nothing is to be done now: sleeps until a message, a question or the next event. */
  private rest(): void {
    const { host, clock, wake } = this.parts
    clock.tick()
    const now = clock.now()
    if (this.client === undefined && now >= this.deadlineNs) this.watched[0] = this.parts.listener
    const untilEventNs = clock.nextNs - now
    if (untilEventNs <= 0) return
    const limitNs = this.served?.doorbells === undefined ? LONGEST_SLEEP_NS : this.pollingSleepNs()
    if (limitNs === 0) return
    this.watched[2] = this.served?.unmaskDescriptor() ?? -1
    const readable = host.poll(this.watched, Math.min(untilEventNs, limitNs))
    if ((readable & READABLE.client) !== 0) this.empty = 0
    if ((readable & READABLE.wake) !== 0) readSync(wake, this.drained)
    if ((readable & READABLE.unmask) !== 0) this.served!.takeUnmask()
  }

  /** How long to sleep between two looks at doorbells that nobody can be woken by: 0 for not at all. */
  private pollingSleepNs(): number {
    const { host, idle } = this.parts
    if (++this.empty % idle.pollsPerYield === 0) host.yield()
    if (this.empty < idle.spinPolls) {
      this.sleepNs = idle.firstSleepNs
      return 0
    }
    const { sleepNs } = this
    this.sleepNs = Math.min(2 * sleepNs, idle.longestSleepNs)
    return sleepNs
  }
}
