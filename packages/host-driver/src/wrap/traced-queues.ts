import { ACQ, AQA, ASQ, countOf, CQE, CreateIoCq, CreateIoSq, SQE } from '@gpunvme/nvme-spec'
import { traceCqe, traceSqe } from '@gpunvme/nvme-spec/trace'
import type { TraceEvent } from '@gpunvme/nvme-spec/transport'
import type { Place, TracedMemory } from './traced-memory.js'

/** An event without its time. */
type Happened = Omit<TraceEvent, 'timeNs'>

interface Ring {
  /** Device address of the first entry; undefined if the entries are not contiguous. */
  readonly iova: number | undefined
  readonly entries: number
  /** First entry that no doorbell has covered yet. */
  next: number
}

/**
 * Queues that a host created, according to its register writes and Admin commands, with their entries. An entry is
 * decoded when its doorbell is rung: it is then complete, and not yet overwritten.
 */
export class TracedQueues {
  private readonly memory: TracedMemory
  private readonly sqs = new Map<number, Ring>()
  private readonly cqs = new Map<number, Ring>()
  /** Submission times of commands, by queue and identifier. */
  private readonly submittedNs = new Map<number, number>()

  constructor(memory: TracedMemory) {
    this.memory = memory
  }

  /** Handles the enabling of the controller with these register values: it then has only its Admin queues. */
  enable(aqa: number, asq: bigint, acq: bigint): void {
    this.clear()
    const { ASQS, ACQS } = AQA.decode(aqa)
    this.sqs.set(0, { iova: Number(ASQ.ASQB.of(asq)) * PAGE_BYTES, entries: countOf(ASQS), next: 0 })
    this.cqs.set(0, { iova: Number(ACQ.ACQB.of(acq)) * PAGE_BYTES, entries: countOf(ACQS), next: 0 })
  }

  /** Handles the disabling or reset of the controller: it then has no queues. */
  clear(): void {
    this.sqs.clear()
    this.cqs.clear()
    this.submittedNs.clear()
  }

  /**
   * Returns the commands that a new tail submits, and the doorbell itself; undefined for a queue that was not created.
   */
  ringTail(qid: number, tail: number, nowNs: number): Happened[] | undefined {
    const track = `sq ${qid}`
    const ring = this.sqs.get(qid)
    if (ring === undefined) return undefined
    const submitted = this.pass(ring, tail, SQE.bytes).map((place) => {
      if (place === undefined) return { track, name: 'submit', details: { entry: UNREADABLE } }
      this.submit(qid, place, nowNs)
      return { track, name: 'submit', command: traceSqe(qid, place.view, place.offsetBytes) }
    })
    return [...submitted, { track, name: 'ring tail', details: { value: tail } }]
  }

  /** Returns the completions that a new head frees, and the doorbell itself; undefined as for `ringTail`. */
  ringHead(qid: number, head: number, nowNs: number): Happened[] | undefined {
    const track = `cq ${qid}`
    const ring = this.cqs.get(qid)
    if (ring === undefined) return undefined
    const completed = this.pass(ring, head, CQE.bytes).map((place) => ({
      track,
      name: 'complete',
      ...(place === undefined ? { details: { entry: UNREADABLE } } : this.completion(place, nowNs)),
    }))
    return [...completed, { track, name: 'ring head', details: { value: head } }]
  }

  /** Returns the locations of the entries since the last doorbell; none for an impossible doorbell value. */
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
    // From the request on: if the creation fails, the host rings no doorbell of the queue.
    if (OPC === CreateIoSq.opcode) this.create(this.sqs, CreateIoSq.view(view, offsetBytes))
    if (OPC === CreateIoCq.opcode) this.create(this.cqs, CreateIoCq.view(view, offsetBytes))
  }

  private create(rings: Map<number, Ring>, command: CreateQueue): void {
    const { QID, QSIZE, PC, PRP1 } = command
    rings.set(QID, { iova: PC === 1 ? PRP1 : undefined, entries: countOf(QSIZE), next: 0 })
  }

  private completion({ view, offsetBytes }: Place, nowNs: number): Pick<TraceEvent, 'completion' | 'details'> {
    const completion = traceCqe(view, offsetBytes)
    const key = commandKey(completion.qid, completion.cid)
    const sinceNs = this.submittedNs.get(key)
    this.submittedNs.delete(key)
    return sinceNs === undefined ? { completion } : { completion, details: { afterNs: nowNs - sinceNs } }
  }
}

type CreateQueue = Pick<ReturnType<typeof CreateIoCq.view>, 'QID' | 'QSIZE' | 'PC' | 'PRP1'>

/** Unit of ASQB and ACQB. */
const PAGE_BYTES = 4096

const UNREADABLE = 'in memory that this transport did not allocate, or that the host cannot read'

function commandKey(qid: number, cid: number): number {
  return qid * 0x1_0000 + cid
}
