import type { FaultAction } from '@gpunvme/nvme-spec/transport'
import type { Completion } from '../conformance/raw-host/entry.js'
import { RunFailure } from './failure.js'
import type { CqRing, SqRing } from './rings.js'
import { Submitted } from './submitted.js'

/** The submitted commands of a host. Assigns completions to them. */
export class Ledger {
  submitted = 0
  completed = 0
  private readonly commands = new Map<string, Submitted>()
  /** Commands that may still complete, oldest first. */
  private out: Submitted[] = []
  /** Commands whose completions faults give a different identifier, by that identifier. */
  private readonly aliases = new Map<string, Submitted[]>()
  /** By completion queue: keys of the consumed entries, and the number of repeated entries that faults have caused. */
  private readonly taken = new Map<CqRing, Set<string>>()
  private readonly stale = new Map<CqRing, number>()
  private nextCid = 0

  get outstanding(): readonly Submitted[] {
    return this.out
  }

  /** Returns the outstanding commands of a queue. */
  outOn(qid: number): readonly Submitted[] {
    return this.out.filter((each) => each.sq.qid === qid)
  }

  freshCid(): number {
    return this.nextCid++
  }

  accept(facts: ConstructorParameters<typeof Submitted>[0]): Submitted {
    const command = new Submitted(facts)
    this.commands.set(`${command.sq.qid}/${command.cid}`, command)
    this.out.push(command)
    this.submitted++
    return command
  }

  /**
   * Returns the number of free slots. Uses no SQHD, which a fault may change: a slot is free if its command has a
   * completion, or if a fault shows that it was fetched.
   */
  freeSlots(sq: SqRing): number {
    const isThere = ({ completions, injected }: Submitted) =>
      completions === 0 && !injected.has('hang') && !injected.has('drop-completion')
    return sq.entries - 1 - this.out.filter((each) => each.sq === sq && isThere(each)).length
  }

  /** Returns the command that a fault report names, as in 'SQ 1 CID 7'. */
  named(where: string): Submitted | undefined {
    const at = /^SQ (\d+) CID (\d+)$/.exec(where)
    return at ? this.commands.get(`${at[1]}/${at[2]}`) : undefined
  }

  /** Registers a command whose completion gets a different identifier from a fault. */
  addAlias(command: Submitted): void {
    const sqid = command.sq.qid ^ (command.injectedFault('corrupt-sqid')?.xor ?? 0)
    const cid = command.cid ^ (command.injectedFault('corrupt-cid')?.xor ?? 0)
    const key = `${sqid}/${cid}`
    this.aliases.set(key, [...(this.aliases.get(key) ?? []), command])
  }

  /** Records that a fault posts an entry of a completion queue again. */
  expectStale(cq: CqRing): void {
    this.stale.set(cq, (this.stale.get(cq) ?? 0) + 1)
  }

  /**
   * Returns the command that an entry completes; undefined for an entry that a fault posted again.
   * @throws RunFailure for an entry without a command, and for more completions of a command than expected.
   */
  complete(cq: CqRing, entry: Completion): Submitted | undefined {
    this.completed++
    const { sqid, cid, status } = entry
    const command = this.find(sqid, cid)
    const isExpected = command?.sq.cq === cq && command.completions < command.maxCompletions
    const key = `${sqid}/${cid}/${status}/${entry.dw0}/${entry.dw1}`
    const taken = this.taken.get(cq) ?? new Set<string>()
    this.taken.set(cq, taken)
    if (!isExpected && (this.stale.get(cq) ?? 0) > 0 && taken.has(key)) {
      this.stale.set(cq, this.stale.get(cq)! - 1)
      return undefined
    }
    if (command?.sq.cq !== cq) {
      throw new RunFailure(
        'unknown-completion',
        `CQ ${cq.qid}: SQ ${sqid} CID ${cid} status ${status} matches no command`,
      )
    }
    if (!isExpected) {
      throw new RunFailure('repeated-completion', `${command.name}: ${command.completions + 1} completions`)
    }
    taken.add(key)
    command.completions++
    return command
  }

  /** Stops waiting for a command. */
  remove(command: Submitted): void {
    this.out = this.out.filter((each) => each !== command)
  }

  private find(sqid: number, cid: number): Submitted | undefined {
    const key = `${sqid}/${cid}`
    const meant = this.aliases.get(key)?.find(({ completions, maxCompletions }) => completions < maxCompletions)
    if (meant) return meant
    const command = this.commands.get(key)
    const isRenamed = command?.injected.has('corrupt-cid') === true || command?.injected.has('corrupt-sqid') === true
    return isRenamed ? undefined : command
  }
}

/** Faults that damage the data of a command. */
export const DAMAGING: readonly FaultAction['kind'][] = ['corrupt-data', 'torn-dma', 'wrong-page']
