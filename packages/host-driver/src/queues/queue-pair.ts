import { prpListMaxTransfer, Read, Write } from '@gpunvme/nvme-spec'
import type { PlanQueue } from '@gpunvme/nvme-spec/engine'
import type { Bar, DmaMemory, QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import { hostView } from '../memory/reachable.js'
import { CommandIds } from './command-ids.js'
import type { CompletionReceiver, CompletionRing } from './completion-ring.js'
import { DataPointer } from './data-pointer.js'
import { Doorbell } from './doorbell.js'
import { advance } from './ring.js'

/** A command that was given up: its deadline passed, or the controller failed under it. */
export interface OverdueCommand {
  readonly qid: number
  readonly cid: number
  /** Its completion, if it arrived late. */
  completion?: { readonly status: number; readonly dw0: number }
}

/** Owner of commands in flight. An object with methods, so that polling creates no closures. */
export interface CommandOwner {
  /**
   * Called when one of its commands completed. The slot still has its CID and list page, and is freed on return.
   * @param command number that the owner passed to `stage`.
   * @param status as in `CompletionReceiver.receive`.
   */
  completed(pair: QueuePair, slot: number, command: number, status: number, dw0: number): void
  /**
   * Called when one of its commands was given up. A late completion is recorded in `overdue`.
   * @param csts CSTS of a controller that is lost; undefined if the deadline of the command passed.
   */
  givenUp(command: number, overdue: OverdueCommand, csts: number | undefined): void
}

/**
 * A queue pair as the host sees it: entries are staged, submitted with one doorbell write, and completed or given up at
 * their deadlines. Only one object may stage and poll a queue pair at a time; the ring positions are in `memory`.
 * Allocates nothing while commands run.
 */
export class QueuePair implements CompletionReceiver, PlanQueue {
  readonly memory: QueuePairMemory
  /** Position among the queue pairs of its user. */
  readonly index: number
  readonly ids: CommandIds
  readonly doorbell: Doorbell
  readonly pointer: DataPointer
  /** Submission queue entries as Read and as Write commands. */
  readonly read: ReturnType<typeof Read.view>
  readonly write: ReturnType<typeof Write.view>
  /** Maximum transfer that the PRP list of a command can describe. */
  readonly maxTransferBytes: number
  /** By slot: the time at which the command was staged, and its deadline. The owner sets both after `stage`. */
  readonly submittedNs: Float64Array
  readonly deadlinesNs: Float64Array
  /** SQ index of the entry that was staged last. */
  stagedIndex = 0
  /** Completions that belong to no outstanding command. Counted, and credited to none. */
  staleCompletions = 0
  private readonly owners: (CommandOwner | undefined)[]
  private readonly commands: Uint32Array
  private overdue: { readonly command: OverdueCommand; readonly slot: number }[] = []
  private rungTail: number

  constructor(memory: QueuePairMemory, bar: Bar, ring: CompletionRing, index = 0) {
    this.memory = memory
    this.index = index
    this.ids = new CommandIds(memory.maxInFlight, memory.generations)
    this.doorbell = new Doorbell(bar, memory.sqTailDoorbell, memory.shadow)
    this.pointer = new DataPointer(memory)
    this.read = Read.view(hostView(memory.sq))
    this.write = Write.view(hostView(memory.sq))
    this.maxTransferBytes = prpListMaxTransfer(memory.prpListBytes, memory.pageBytes)
    this.submittedNs = new Float64Array(memory.maxInFlight)
    this.owners = new Array<CommandOwner | undefined>(memory.maxInFlight).fill(undefined)
    this.commands = new Uint32Array(memory.maxInFlight)
    this.deadlinesNs = new Float64Array(memory.maxInFlight).fill(Infinity)
    this.rungTail = memory.sqTail
    ring.join(memory.qid, this)
  }

  problem(memory: DmaMemory, offsetBytes: number, lengthBytes: number): string | undefined {
    return this.pointer.problem(memory, offsetBytes, lengthBytes)
  }

  /**
   * Claims the next submission queue entry, `stagedIndex`, for the caller to fill. The controller does not fetch it
   * before `ring`. Returns the command's slot, or -1 if the queues are full. The
   * command has no deadline: the controller may hold it for any time, unless the owner sets `deadlinesNs`.
   * @param command number by which the owner knows the command.
   */
  stage(owner: CommandOwner, command: number): number {
    const slot = this.ids.take()
    if (slot < 0) return slot
    const { memory } = this
    this.stagedIndex = memory.sqTail
    memory.sqTail = advance(memory.sqTail, memory.sqEntries)
    this.owners[slot] = owner
    this.commands[slot] = command
    return slot
  }

  /** Withdraws the last staged command, whose entry could not be filled. Call before `ring`. */
  withdraw(slot: number): void {
    this.memory.sqTail = this.stagedIndex
    this.owners[slot] = undefined
    this.ids.release(slot)
  }

  /** Submits all staged entries with one doorbell write. */
  ring(): void {
    const { memory } = this
    if (memory.sqTail === this.rungTail) return
    memory.sq.forDevice(0, memory.sq.lengthBytes)
    this.doorbell.ring(memory.sqTail)
    this.rungTail = memory.sqTail
  }

  receive(cid: number, status: number, dw0: number): void {
    const slot = this.ids.ownerOf(cid)
    if (slot < 0) {
      this.receiveLate(cid, status, dw0)
      return
    }
    const owner = this.owners[slot]!
    this.owners[slot] = undefined
    this.deadlinesNs[slot] = Infinity
    owner.completed(this, slot, this.commands[slot]!, status, dw0)
    this.ids.release(slot)
  }

  /** Returns the earliest deadline of the commands in flight; Infinity if there is none. */
  earliestDeadlineNs(): number {
    let earliest = Infinity
    for (let slot = 0; slot < this.deadlinesNs.length; slot++) earliest = Math.min(earliest, this.deadlinesNs[slot]!)
    return earliest
  }

  /**
   * Gives up the commands whose deadlines have passed by `untilNs`; with `csts` of a lost controller, every command that
   * has a deadline. Returns their number. Their slots stay occupied, because the controller may still use their memory.
   */
  giveUp(untilNs: number, csts: number | undefined): number {
    let given = 0
    for (let slot = 0; slot < this.owners.length; slot++) {
      const owner = this.owners[slot]
      const deadlineNs = this.deadlinesNs[slot]!
      if (owner === undefined || deadlineNs === Infinity) continue
      if (csts === undefined && deadlineNs > untilNs) continue
      const command: OverdueCommand = { qid: this.memory.qid, cid: this.ids.cidOf(slot) }
      this.owners[slot] = undefined
      this.deadlinesNs[slot] = Infinity
      this.ids.abandon(slot)
      this.overdue.push({ command, slot })
      owner.givenUp(this.commands[slot]!, command, csts)
      given++
    }
    return given
  }

  /** Handles a completion that matches no outstanding command. A late one may still determine an outcome. */
  private receiveLate(cid: number, status: number, dw0: number): void {
    const late = this.overdue.find(({ command }) => command.cid === cid)
    if (late === undefined) {
      this.staleCompletions++
      return
    }
    late.command.completion = { status, dw0 }
    this.overdue = this.overdue.filter((one) => one !== late)
    this.ids.reclaim(late.slot)
  }
}
