import {
  ACQ,
  AQA,
  ASQ,
  countOf,
  CQE,
  CreateIoCq,
  CreateIoSq,
  decodeCqe,
  formatCqe,
  formatSqe,
  SQE,
} from '@gpunvme/nvme-spec'
import type { TraceEvent } from '@gpunvme/nvme-spec/transport'
import type { Place, TracedMemory } from './traced-memory.js'

/** What of an event the queues know. */
type Happened = Pick<TraceEvent, 'track' | 'name' | 'details'>

interface Ring {
  /** Of its first entry; undefined where the entries do not lie side by side. */
  readonly iova: number | undefined
  readonly entries: number
  /** The first entry that no doorbell has told of yet. */
  next: number
}

/**
 * The queues that a host has created, as its own register writes and Admin commands say, and what it puts into them
 * and takes out. An entry is decoded when its doorbell is rung: then it is whole, and still there.
 */
export class TracedQueues {
  private readonly memory: TracedMemory
  private readonly sqs = new Map<number, Ring>()
  private readonly cqs = new Map<number, Ring>()
  /** When a command was submitted, by its queue and identifier. */
  private readonly submittedNs = new Map<number, number>()

  constructor(memory: TracedMemory) {
    this.memory = memory
  }

  /** The controller was enabled, with these values in its registers: it has its Admin queues, and no others. */
  enable(aqa: number, asq: bigint, acq: bigint): void {
    this.clear()
    const { ASQS, ACQS } = AQA.decode(aqa)
    this.sqs.set(0, { iova: Number(ASQ.ASQB.of(asq)) * PAGE_BYTES, entries: countOf(ASQS), next: 0 })
    this.cqs.set(0, { iova: Number(ACQ.ACQB.of(acq)) * PAGE_BYTES, entries: countOf(ACQS), next: 0 })
  }

  /** The controller was disabled or reset: it has no queues. */
  clear(): void {
    this.sqs.clear()
    this.cqs.clear()
    this.submittedNs.clear()
  }

  /** The commands that a new tail submits, and the ring itself; undefined for a queue that was not created. */
  ringTail(qid: number, tail: number, nowNs: number): Happened[] | undefined {
    const track = `sq ${qid}`
    const ring = this.sqs.get(qid)
    if (ring === undefined) return undefined
    const submitted = this.pass(ring, tail, SQE.bytes).map((place) => {
      if (place !== undefined) this.submit(qid, place, nowNs)
      const text = place && formatSqe(qid === 0 ? 'admin' : 'nvm', place.view, place.offsetBytes)
      return { track, name: 'submit', details: { entry: text ?? UNREADABLE } }
    })
    return [...submitted, { track, name: 'ring tail', details: { value: tail } }]
  }

  /** The completions that a new head frees, and the ring itself; undefined as `ringTail`. */
  ringHead(qid: number, head: number, nowNs: number): Happened[] | undefined {
    const track = `cq ${qid}`
    const ring = this.cqs.get(qid)
    if (ring === undefined) return undefined
    const completed = this.pass(ring, head, CQE.bytes).map((place) => ({
      track,
      name: 'complete',
      details: place === undefined ? { entry: UNREADABLE } : this.completion(place, nowNs),
    }))
    return [...completed, { track, name: 'ring head', details: { value: head } }]
  }

  /** Where the entries from the last doorbell to this one lie; none for a doorbell that cannot be. */
  private pass(ring: Ring, to: number, entryBytes: number): (Place | undefined)[] {
    const places: (Place | undefined)[] = []
    if (to >= ring.entries) return places
    for (; ring.next !== to; ring.next = (ring.next + 1) % ring.entries) {
      places.push(ring.iova === undefined ? undefined : this.memory.at(ring.iova + ring.next * entryBytes, entryBytes))
    }
    return places
  }

  private submit(qid: number, { view, offsetBytes }: Place, nowNs: number): void {
    const { OPC, CID } = SQE.view(view, offsetBytes)
    this.submittedNs.set(commandKey(qid, CID), nowNs)
    if (qid !== 0) return
    // From the moment that it is asked for: whoever is refused a queue rings no doorbell of it.
    if (OPC === CreateIoSq.opcode) this.create(this.sqs, CreateIoSq.view(view, offsetBytes))
    if (OPC === CreateIoCq.opcode) this.create(this.cqs, CreateIoCq.view(view, offsetBytes))
  }

  private create(rings: Map<number, Ring>, command: CreateQueue): void {
    const { QID, QSIZE, PC, PRP1 } = command
    rings.set(QID, { iova: PC === 1 ? PRP1 : undefined, entries: countOf(QSIZE), next: 0 })
  }

  private completion({ view, offsetBytes }: Place, nowNs: number): Record<string, string | number> {
    const { SQID, CID } = decodeCqe(view, offsetBytes)
    const key = commandKey(SQID, CID)
    const sinceNs = this.submittedNs.get(key)
    this.submittedNs.delete(key)
    const entry = formatCqe(view, offsetBytes)
    return sinceNs === undefined ? { entry } : { entry, afterNs: nowNs - sinceNs }
  }
}

type CreateQueue = Pick<ReturnType<typeof CreateIoCq.view>, 'QID' | 'QSIZE' | 'PC' | 'PRP1'>

/** What ASQB and ACQB count. */
const PAGE_BYTES = 4096

const UNREADABLE = 'in memory that this transport has not handed out, or the host cannot read'

function commandKey(qid: number, cid: number): number {
  return qid * 0x1_0000 + cid
}
