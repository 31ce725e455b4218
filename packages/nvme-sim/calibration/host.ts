import type { Clock } from '@gpunvme/nvme-spec/transport'
import { unverifiableMedia } from '../src/media/unverifiable.js'
import type { DriveProfile } from '../src/profiles/profile.js'
import type { Workload } from '../src/profiles/published.js'
import { statusOf } from '../conformance/raw-host/entry.js'
import { prpsOf } from '../conformance/raw-host/prps.js'
import { RawHost } from '../conformance/raw-host/raw-host.js'
import type { CqRing, SqRing } from '../conformance/raw-host/rings.js'
import { simulate } from '../src/simulate.js'

const BLOCK_BYTES = 512
const QID = 1

/** A host that runs one workload: identical commands with the same memory, and almost no time between them. */
export class CalibrationHost {
  readonly clock: Clock
  private readonly host: RawHost
  private readonly sq: SqRing
  private readonly cq: CqRing
  private readonly opcode: number
  private readonly blocks: number
  private readonly prps: readonly [prp1: number, prp2: number]
  private readonly hostCommandNs: number
  private freeNs = 0
  private submitted = 0

  /** Creates a simulator with the profile, enables it, and creates one queue pair for the workload. */
  static async open(profile: DriveProfile, workload: Workload): Promise<CalibrationHost> {
    const { transport } = simulate({
      profile,
      namespaces: [{ blockBytes: BLOCK_BYTES, media: unverifiableMedia({ capacityBytes: 2 ** 40 }) }],
    })
    const host = new RawHost(transport)
    await host.enable({ sqEntries: 4 })
    await host.createPair(QID, workload.depth + 1)
    return new CalibrationHost(host, workload)
  }

  private constructor(host: RawHost, { operation, blockBytes, hostCommandNs = 0 }: Workload) {
    this.clock = host.clock
    this.host = host
    this.sq = host.sqs.get(QID)!
    this.cq = host.cqs.get(QID)!
    this.opcode = operation === 'read' ? 0x02 : 0x01
    this.blocks = blockBytes / BLOCK_BYTES
    const data = host.alloc(blockBytes)
    this.prps = prpsOf(data, 0, blockBytes, host.pageBytes, (bytes) => host.alloc(bytes))
    this.hostCommandNs = hostCommandNs
  }

  /** Submits a command, after the host time of the previous one. */
  async submit(): Promise<void> {
    const { clock } = this
    if (this.hostCommandNs > 0) {
      this.freeNs = Math.max(this.freeNs, clock.now()) + this.hostCommandNs
      while (clock.now() < this.freeNs) await clock.idle(this.freeNs)
    }
    this.sq.stageTransfer(this.opcode, this.submitted++ & 0xffff, 1, this.prps[0], this.prps[1], 0, this.blocks)
    this.host.ringTail(QID)
  }

  /** Waits for completions and calls `completed` with the CID of each; returns their number. */
  async collect(completed: (cid: number) => void): Promise<number> {
    let count = 0
    await this.host.until(() => {
      for (let dw3 = this.cq.peek(); dw3 >= 0; dw3 = this.cq.peek()) {
        if (dw3 >>> 17 !== 0) throw new Error(`calibration: a command failed with status ${statusOf(dw3)}`)
        completed(dw3 & 0xffff)
        this.cq.advance()
        count++
      }
      return count > 0
    })
    if (count === 0) throw new Error('calibration: no completion within the time limit of a command')
    this.host.ringHead(QID)
    return count
  }
}
