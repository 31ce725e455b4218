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

/**
 * Maximum total time that replies may block on one client while it has pending messages; after that, it is
 * disconnected.
 */
const SEND_LIMIT_NS = 1_000_000_000
/** Minimum time of a reply that counts as blocked. */
const WAIT_MS = 1
/** Time limit to agree on a version, since other clients wait. */
const VERSION_LIMIT_NS = 10_000_000_000
/** Pause before the next client after one could not be served, so that a missing resource may become available. */
const PAUSE_NS = 1_000_000_000
/** Messages handled before events, doorbells and requests have their turn. */
const MESSAGES_PER_TURN = 64
/** Maximum sleep; events that concern the thread wake it earlier. */
const LONGEST_SLEEP_NS = 1_000_000_000
/** Turns without work between two checks for messages, if doorbells are polled. */
const TURNS_PER_LOOK = 32
/** Turns between two scans of doorbells of queues that do not exist. */
const TURNS_PER_SCAN = 1024
/** Bits of the result of `poll`, in the order of the watched descriptors. */
const READABLE = { client: 1, wake: 2, unmask: 4 } as const

/** Dependencies of the loop. */
export interface ServerLoopParts {
  readonly host: VfioUserHost
  readonly listener: number
  /** STATE and REQUESTS. */
  readonly control: Int32Array
  /** An eventfd that is written when either has changed. */
  readonly wake: number
  readonly clock: WallClock
  readonly diagnostics: Diagnostics
  readonly idle: IdlePolicy
  /** A client has connected: returns its session. */
  readonly welcome: () => Served
  /** Answers requests. */
  readonly answer: () => void
}

/** The session of one client. */
export interface Served {
  readonly session: Session
  /** Doorbells that must be polled. */
  readonly doorbells: { poll(): boolean; scan(): boolean } | undefined
  /** Signals interrupts that have arrived. */
  flush(): void
  /** An eventfd by which the client unmasks INTx, or -1; and the action when it was signalled. */
  unmaskDescriptor(): number
  takeUnmask(): void
  /** The client has disconnected: drops its state. */
  leave(): void
}

/** The server's thread: handles messages, runs due events, and sleeps until there is something to do. */
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
  /** Complete messages may have been received and not handled. */
  private isLeft = false
  /** Remaining time that replies to this client may block. */
  private patienceNs = SEND_LIMIT_NS
  /**
   * Bytes of mappings lost in this process before the client connected. If more are lost, the client has truncated its
   * files, and their replacement uses our memory. With several servers in one process, each attributes the loss to its
   * own client.
   */
  private lostBytes = 0
  /** Time when a client without an agreed version is disconnected; without a client, when to accept the next one. */
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

  /** Returns when the server must end. */
  run(): void {
    const { control } = this.parts
    while (Atomics.load(control, STATE) !== CLOSING) {
      if (this.turn()) this.empty = 0
      else this.rest()
    }
  }

  /** Disconnects the client, if there is one. */
  close(): void {
    if (this.client !== undefined) this.farewell()
  }

  /** Polls everything once; returns false if there was nothing to do. Messages come before their effects. */
  private turn(): boolean {
    const { clock } = this.parts
    const { client } = this
    // Checking for messages takes a system call, which is slower than polling doorbells, for which two busy threads
    // would wait.
    const isLooking = this.served?.doorbells === undefined || this.empty % TURNS_PER_LOOK === 0
    let isBusy = client === undefined ? this.welcomeNext() : isLooking && this.takeMessages(client)
    const doorbells = this.served?.doorbells
    if (doorbells?.poll()) isBusy = true
    if (doorbells !== undefined && ++this.turns % TURNS_PER_SCAN === 0 && doorbells.scan()) isBusy = true
    if (clock.run()) isBusy = true
    this.served?.flush()
    if (isBusy && this.client !== undefined && this.parts.host.lostForeignBytes() !== this.lostBytes)
      this.sendAway('it truncated memory that it had mapped')
    this.answer()
    return isBusy
  }

  /** A silent client prevents others from being served. */
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

  /** The system lacks a resource for a client, such as descriptors or memory, and may have it later. */
  private pause(error: unknown): void {
    const { clock, diagnostics } = this.parts
    if (!isSystemError(error)) throw error
    diagnostics.report('server-resources', `cannot serve a client: ${error.message}`)
    this.deadlineNs = clock.now() + PAUSE_NS
    // The pending connection would keep waking the loop.
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
      this.sendAway('it did not negotiate a version in time')
      return true
    }
    if (count === 0) {
      this.farewell()
      return true
    }
    if (!reader.add(count, received)) {
      this.sendAway('it sent too many descriptors with a message')
      return true
    }
    // The effects of a message are never early.
    this.parts.clock.tick()
    this.handleSome(client)
    return true
  }

  /** Handles received messages, up to the limit per turn. */
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

  /** Whether the server must end, or has requests. */
  private isWanted(): boolean {
    const { control } = this.parts
    return Atomics.load(control, STATE) === CLOSING || Atomics.load(control, REQUESTS) !== this.answered
  }

  /** Like `SocketHost.receive`; also 0 if the connection is broken. */
  private receive(client: number): number {
    try {
      return this.parts.host.receive(client, this.reader.space(), this.received, 'memory-and-eventfds')
    } catch (error) {
      if (!isSystemError(error)) throw error
      this.parts.diagnostics.report('client-disconnected', `client disconnected: ${error.message}`)
      return 0
    }
  }

  /** Returns false if the client accepts no more data: it is then disconnected. */
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
      this.sendAway(`cannot send a reply: ${error.message}`)
      return false
    }
  }

  private sendAway(why: string): void {
    this.parts.diagnostics.report('client-disconnected', `client disconnected: ${why}`)
    this.farewell()
  }

  /** Ends the session of the client. */
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

  /** Sleeps until a message, a request or the next event. */
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

  /** Returns the sleep between two polls of doorbells, which cannot wake the thread: 0 for none. */
  private pollingSleepNs(): number {
    const { host, idle } = this.parts
    if (++this.empty % idle.pollsPerYield === 0) host.yield()
    if (this.empty < idle.spinPolls) {
      this.sleepNs = idle.minSleepNs
      return 0
    }
    const { sleepNs } = this
    this.sleepNs = Math.min(2 * sleepNs, idle.maxSleepNs)
    return sleepNs
  }
}
