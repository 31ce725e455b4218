import type { TraceEvent } from '@gpunvme/nvme-spec/transport'
import { RunFailure } from './failure.js'
import type { Arbitration, Scenario } from './scenario.js'

/** Class of the Admin queue, which precedes the urgent class (QPRIO 0) and the weighted classes (1 to 3). */
const ADMIN = -1
const URGENT = 0
/** Value of Arbitration Burst for no limit. */
const NO_LIMIT = 7
/** CC.AMS of weighted round robin. */
const AMS_WEIGHTED = 'AMS=WRRUPC'

/** A submission queue as the controller sees it. */
interface Watched {
  readonly qid: number
  readonly cqid: number
  readonly entries: number
  readonly level: number
  tail: number
  /** Number of entries that were announced by the doorbell and not yet fetched. */
  waiting: number
  /** Number of commands fetched from each other queue while this queue was waiting. */
  readonly overtakers: Map<number, number>
}

/** Free slots of a completion queue. `isClosed` from the time it is full until another entry is posted. */
interface Room {
  readonly entries: number
  head: number
  used: number
  isClosed: boolean
}

/**
 * Checks the order in which commands are fetched (Base 2.1 §3.4.4). Admin and urgent commands precede all others. A
 * weighted class is served at most its weight while another class waits, and a queue at most one burst while another
 * queue of its class waits. Needs the trace of a scenario without faults, mistakes or recreated queues. A queue counts
 * as waiting only while its completion queue has room: a controller need not fetch a command that it cannot complete.
 */
export class ArbitrationWatch {
  private readonly scenario: Scenario
  private readonly weights: readonly number[]
  private readonly burst: number
  private sqs: readonly Watched[] = []
  private rooms = new Map<number, Room>()
  private isWeighted = false
  /** For each waiting class: the number of fetches of each other class meanwhile. */
  private readonly shares = new Map<number, Map<number, number>>()
  private failure: string | undefined

  constructor(scenario: Scenario, { weights, burst }: Arbitration) {
    this.scenario = scenario
    this.weights = [0, ...weights].map((weight) => weight + 1)
    this.burst = burst === NO_LIMIT ? Infinity : 2 ** burst
  }

  /** @throws RunFailure if a command was fetched out of order. */
  check(): void {
    if (this.failure !== undefined) throw new RunFailure('arbitration', this.failure)
  }

  note({ track, name, details }: TraceEvent): void {
    const qid = Number(track.slice(3))
    if (name === 'write CC') this.restart(String(details?.['value']))
    else if (name === 'ring tail') this.ringTail(qid, Number(details?.['value']))
    else if (name === 'ring head') this.ringHead(qid, Number(details?.['value']))
    else if (name === 'post') this.post(qid)
    else if (name === 'fetch') this.fetch(qid)
  }

  private restart(cc: string): void {
    const { adminEntries, sqs, cqs } = this.scenario
    this.isWeighted = cc.includes(AMS_WEIGHTED)
    const watched = (qid: number, cqid: number, entries: number, level: number) => {
      return { qid, cqid, entries, level, tail: 0, waiting: 0, overtakers: new Map<number, number>() }
    }
    this.sqs = [
      watched(0, 0, adminEntries, ADMIN),
      ...sqs.map(({ qid, cqid, entries, priority = 0 }) => watched(qid, cqid, entries, priority)),
    ]
    const rooms = [{ qid: 0, entries: adminEntries }, ...cqs]
    this.rooms = new Map(rooms.map(({ qid, entries }) => [qid, { entries, head: 0, used: 0, isClosed: false }]))
    this.shares.clear()
  }

  private ringTail(qid: number, tail: number): void {
    const sq = this.sqs.find((each) => each.qid === qid)
    if (sq === undefined) return
    sq.waiting += (tail - sq.tail + sq.entries) % sq.entries
    sq.tail = tail
  }

  private ringHead(qid: number, head: number): void {
    const room = this.rooms.get(qid)
    if (room === undefined) return
    room.used -= (head - room.head + room.entries) % room.entries
    room.head = head
  }

  private post(qid: number): void {
    const room = this.rooms.get(qid)
    if (room === undefined) return
    room.used++
    room.isClosed = room.used === room.entries - 1
  }

  private fetch(qid: number): void {
    const sq = this.sqs.find((each) => each.qid === qid)
    if (sq === undefined) return
    const waiting = this.sqs.filter((each) => each.waiting > 0 && this.rooms.get(each.cqid)?.isClosed === false)
    if (this.isWeighted) this.checkClasses(sq, waiting)
    this.checkBursts(sq, waiting)
    sq.waiting--
  }

  private checkClasses({ qid, level }: Watched, waiting: readonly Watched[]): void {
    const before = waiting.find((each) => each.level <= URGENT && each.level < level)
    if (before) this.fail(`SQ ${qid} was served before SQ ${before.qid}, of a class with strict priority`)
    if (level <= URGENT) return
    for (const other of [1, 2, 3]) {
      const isWaiting = other !== level && waiting.some((each) => each.level === other)
      if (!isWaiting) this.shares.delete(other)
      else {
        const share = this.shares.get(other) ?? new Map<number, number>()
        this.shares.set(other, share)
        const weight = this.weights[level]!
        if (count(share, level) > weight) {
          this.fail(`class ${level} was served more than ${weight} times while class ${other} was waiting`)
        }
      }
    }
  }

  /** Checks bursts within a class; with round robin, all queues are in one class. */
  private checkBursts(sq: Watched, waiting: readonly Watched[]): void {
    for (const other of this.sqs) {
      const isPeer = other !== sq && (!this.isWeighted || other.level === sq.level)
      if (other === sq || !waiting.includes(other)) other.overtakers.clear()
      else if (isPeer && count(other.overtakers, sq.qid) > this.burst) {
        this.fail(`SQ ${sq.qid} was served more than ${this.burst} times while SQ ${other.qid} was waiting`)
      }
    }
  }

  private fail(message: string): void {
    this.failure ??= message
  }
}

/** Increments a count and returns it. */
function count(counts: Map<number, number>, key: number): number {
  const more = (counts.get(key) ?? 0) + 1
  counts.set(key, more)
  return more
}
