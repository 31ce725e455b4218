import type { NativeHost } from '@gpunvme/nvme-spec/transport'
import {
  ACTIVITY,
  ASLEEP,
  CLOSING,
  CONFIG_READ,
  CONFIG_WRITE,
  HOST_WAITS,
  POSTED,
  REQUESTS,
  RESULT,
  RING,
  RING_ENTRIES,
  STATE,
  TAKE_INTERRUPT,
  TAKEN,
  WAKE,
  WANTS_MESSAGE,
} from './control.js'
import type { DoorbellPage } from './doorbell-page.js'
import type { IdlePolicy } from './options.js'
import type { RegisterPage } from './register-page.js'
import type { WallClock } from './wall-clock.js'

/** Turns between two scans of what is rarely written: registers, and doorbells of queues that do not exist. */
const TURNS_PER_SCAN = 1024

/** Likewise, in sleeps. */
const SLEEPS_PER_SCAN = 8

/** An event that is due sooner than a wake-up takes is waited for by polling. */
const WAKING_NS = 100_000

/** Dependencies of the loop. */
export interface LoopParts {
  readonly control: Int32Array
  readonly clock: WallClock
  readonly doorbells: DoorbellPage
  readonly registers: RegisterPage
  readonly idle: IdlePolicy
  readonly native: NativeHost | undefined
  /** Executes an access posted by the host; returns its result, if it has one. */
  readonly access: (what: number, where: number, value: number) => number
  /** The host has sent messages. */
  readonly answer: () => void
  /** Sends the host's thread a message that something has happened. */
  readonly tell: () => void
}

/**
 * The simulator's thread: polls doorbells and register writes, runs due events, and rests when there is nothing to do.
 */
export class SimulatorLoop {
  private readonly parts: LoopParts
  private answered = 0
  private taken = 0
  private turns = 0
  /**
   * The host has done something, or registers have changed, and its other waiters have not been notified: the effects
   * of an access may be complete before it returns, with no event left for the clock.
   */
  private hasNews = false

  constructor(parts: LoopParts) {
    this.parts = parts
  }

  /** Returns when the host requests the end. */
  run(): void {
    const { control, idle, native, clock } = this.parts
    let empty = 0
    let sleeps = 0
    let sleepNs = idle.minSleepNs
    while (Atomics.load(control, STATE) !== CLOSING) {
      if (this.turn()) {
        empty = 0
        sleeps = 0
        sleepNs = idle.minSleepNs
        continue
      }
      if (++empty % idle.pollsPerYield === 0) native?.yield()
      if (empty < idle.spinPolls) continue
      clock.tick()
      const untilEventNs = clock.nextNs - clock.now() - WAKING_NS
      if (untilEventNs <= 0) continue
      this.sleep(Math.min(sleepNs, untilEventNs), ++sleeps % SLEEPS_PER_SCAN === 0)
      sleepNs = Math.min(2 * sleepNs, idle.maxSleepNs)
    }
  }

  /** Polls everything once; returns false if there was nothing to do. */
  private turn(): boolean {
    const { control, clock, registers, answer } = this.parts
    let busy = this.poll()
    if (++this.turns % TURNS_PER_SCAN === 0) busy = this.scan() || busy
    if (Atomics.load(control, POSTED) !== this.taken) {
      this.takeAccesses()
      busy = true
    }
    const hasRun = clock.run()
    if (registers.publish() || hasRun || this.hasNews) {
      this.hasNews = false
      this.noteActivity()
      busy = true
    }
    const requests = Atomics.load(control, REQUESTS)
    if (requests === this.answered) return busy
    this.answered = requests
    answer()
    // A reset counts as activity.
    this.noteActivity()
    return true
  }

  /** Polls the doorbells of the queues. */
  private poll(): boolean {
    const rung = this.parts.doorbells.poll()
    this.hasNews ||= rung
    return rung
  }

  private scan(): boolean {
    const { doorbells, registers } = this.parts
    // A host stores its registers before it rings.
    const written = registers.scan()
    const found = doorbells.scan() || written
    this.hasNews ||= found
    return found
  }

  /** Executes the accesses of the JavaScript host, individually and in order. */
  private takeAccesses(): void {
    const { control, registers, clock, access } = this.parts
    clock.tick()
    const posted = Atomics.load(control, POSTED)
    for (; this.taken !== posted; this.taken = (this.taken + 1) | 0) {
      const at = RING + 3 * ((this.taken >>> 0) % RING_ENTRIES)
      const what = control[at]!
      control[RESULT] = access(what, control[at + 1]!, control[at + 2]! >>> 0)
      this.hasNews ||= hasEffects(what)
    }
    // A load after a write must show its effect.
    if (registers.publish()) this.hasNews = true
    Atomics.store(control, TAKEN, this.taken)
    Atomics.notify(control, TAKEN)
  }

  private noteActivity(): void {
    const { control, tell } = this.parts
    Atomics.add(control, ACTIVITY, 1)
    const waits = Atomics.load(control, HOST_WAITS)
    if (waits === 0) return
    Atomics.notify(control, ACTIVITY)
    if (waits === WANTS_MESSAGE && Atomics.compareExchange(control, HOST_WAITS, WANTS_MESSAGE, 0) === WANTS_MESSAGE) {
      tell()
    }
  }

  private sleep(ns: number, scansBefore: boolean): void {
    const { control } = this.parts
    const seen = Atomics.load(control, WAKE)
    Atomics.store(control, ASLEEP, 1)
    const isNeeded =
      this.poll() ||
      (scansBefore && this.scan()) ||
      Atomics.load(control, POSTED) !== this.taken ||
      Atomics.load(control, REQUESTS) !== this.answered ||
      Atomics.load(control, STATE) === CLOSING
    if (!isNeeded) Atomics.wait(control, WAKE, seen, ns / 1e6)
    Atomics.store(control, ASLEEP, 0)
  }
}

/**
 * Whether an access may change what the host waits for; a register read does if a fault applies to it. Waiting itself
 * reads interrupts, and would otherwise wake itself forever.
 */
function hasEffects(what: number): boolean {
  return what !== TAKE_INTERRUPT && (what < CONFIG_READ || what >= CONFIG_WRITE)
}
