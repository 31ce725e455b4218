import type { Commander } from './commander.js'
import { RunFailure } from './failure.js'
import type { Management } from './scenario.js'
import { formatOf, type Space } from './spaces.js'
import type { Submitted } from './submitted.js'

/** Opcodes, and selections in CDW10, as the specification's figures number them. */
const FORMAT = 0x80
const MANAGEMENT = 0x0d
const ATTACHMENT = 0x15
const IDENTIFY = 0x06
const CNS = { attached: 0x02, allocated: 0x10, allocatedNamespace: 0x11 } as const
const EXTENDED = 1 << 4

/** Statuses of these commands (Base 2.1 Figures 102, 104). */
const SEQUENCE_ERROR = '0/0c'
const INVALID_FORMAT = '1/0a'
const NO_CAPACITY = '1/15'
const ALREADY_ATTACHED = '1/18'
const NOT_ATTACHED = '1/1a'

/** Maximum number of attempts to identify the namespaces. */
const LEARNINGS = 6
/** After a command with a known outcome, Identify checks the namespaces only every third time, to save time. */
const CHECKED_EVERY = 3
/** Number of LBA formats of the simulator. */
const FORMATS = 8
/** Blocks of the namespace that the host creates; fixed, so that steps can refer to them. */
const CREATED_BLOCKS = 64
export const SPARE_BYTES = CREATED_BLOCKS * (4096 + 64)

type Of<W extends Management['what']> = Extract<Management, { what: W }>

/**
 * Formats, creates, attaches, detaches and deletes namespaces, and compares Identify data with the expected state.
 * After a fault, adopts the state that the controller reports.
 */
export class Manager {
  private readonly commander: Commander
  private managed = 0

  constructor(commander: Commander) {
    this.commander = commander
  }

  async take(management: Management): Promise<void> {
    switch (management.what) {
      case 'format':
        return this.format(management)
      case 'format-busy':
        return this.formatBusy(management)
      case 'create':
        return this.create(management)
      case 'attach':
      case 'detach':
        return this.attach(management.what, management.nsid)
      case 'delete':
        return this.delete()
    }
  }

  private get host() {
    return this.commander.host
  }

  private async format({ nsid, format, isExtended }: Of<'format'>): Promise<void> {
    const { host, commander } = this
    await commander.settle()
    const space = host.spaces.get(nsid)
    if (space === undefined || this.isInUse(space.nsid)) return
    const wanted = format < FORMATS ? formatOf(format, isExtended) : undefined
    const fits = wanted !== undefined && blocksIn(space.capacityBytes, wanted) > 0
    const entry = { opcode: FORMAT, nsid: space.nsid, cdw: { 10: format | (isExtended ? EXTENDED : 0) } }
    const faults = host.namespaceFaults
    const command = await commander.send('manage', entry, [fits ? '0/00' : INVALID_FORMAT])
    if (command === undefined) return
    const outcome = await this.outcomeOf('format', command)
    if (outcome === 'none') return
    if (outcome === 'done') {
      const blocks = blocksIn(space.capacityBytes, wanted!)
      host.spaces.set({ ...host.spaces.get(space.nsid)!, ...wanted!, blocks })
      this.erase(space.nsid)
    } else host.medium.mayErase(space.nsid)
    await this.learn(outcome === 'done' && faults === host.namespaceFaults)
  }

  /** Formats a namespace while a command for it hangs; the controller must reject the format. */
  private async formatBusy({ nsid }: Of<'format-busy'>): Promise<void> {
    const { host, commander } = this
    const space = host.spaces.get(nsid)
    host.absorbStrikes()
    const hanging = host.ledger.outstanding.some(
      ({ order, isHanging, statuses }) => isHanging && order?.nsid === space?.nsid && statuses.includes('0/00'),
    )
    if (!hanging || space?.isAttached !== true) return
    commander.allow(/formats namespace/)
    const entry = { opcode: FORMAT, nsid: space.nsid, cdw: { 10: 0 } }
    const command = await commander.send('manage', entry, [SEQUENCE_ERROR])
    if (command !== undefined && (await this.outcomeOf('format', command)) === 'unknown') await this.learn(false)
  }

  private async create({ format, isTooLarge }: Of<'create'>): Promise<void> {
    const { host, commander } = this
    const { created } = host.spaces
    // The unallocated capacity is sufficient for one namespace.
    const isRefused = isTooLarge || created !== undefined
    const blockFormat = formatOf(format, false)
    const blocks = isRefused ? SPARE_BYTES : CREATED_BLOCKS
    const wanted = new Uint8Array(4096)
    const view = new DataView(wanted.buffer)
    view.setBigUint64(0, BigInt(blocks), true)
    view.setBigUint64(8, BigInt(blocks), true)
    wanted[26] = format
    const faults = host.namespaceFaults
    const entry = { opcode: MANAGEMENT, cdw: { 10: 0 } }
    const command = await commander.send('manage', entry, [isRefused ? NO_CAPACITY : '0/00'], wanted)
    if (command === undefined) return
    const outcome = await this.outcomeOf('create namespace', command)
    if (outcome === 'none') return
    if (outcome === 'done') {
      const nsid = command.dw0
      if (nsid === 0 || host.spaces.get(nsid) !== undefined) {
        throw new RunFailure('namespaces', `${command.name}: created NSID ${nsid}, expected a free NSID`)
      }
      const capacityBytes = blocks * (blockFormat.blockBytes + blockFormat.metadataBytes)
      host.spaces.created = nsid
      host.spaces.set({ nsid, ...blockFormat, blocks, capacityBytes, isAttached: false })
      this.erase(nsid)
    }
    await this.learn(outcome === 'done' && faults === host.namespaceFaults)
  }

  private async attach(what: 'attach' | 'detach', nsid: number): Promise<void> {
    const { host, commander } = this
    const space = host.spaces.get(nsid)
    if (space === undefined) return
    const isAttach = what === 'attach'
    const list = new Uint8Array(4096)
    // One controller, with CNTLID 0.
    list[0] = 1
    const faults = host.namespaceFaults
    const refused = isAttach ? ALREADY_ATTACHED : NOT_ATTACHED
    const mayBe = space.isAttached === isAttach ? [refused] : ['0/00']
    // A fault may attach or detach the namespace as well.
    const entry = { opcode: ATTACHMENT, nsid: space.nsid, cdw: { 10: isAttach ? 0 : 1 } }
    const command = await commander.send('manage', entry, this.hasNamespaceFaults ? ['0/00', refused] : mayBe, list)
    if (command === undefined) return
    host.spaces.changing = space.nsid
    host.reconsider(space.nsid)
    const outcome = await this.outcomeOf(`${what} namespace`, command)
    host.spaces.changing = undefined
    if (outcome === 'done') host.spaces.set({ ...host.spaces.get(space.nsid)!, isAttached: isAttach })
    await this.learn(outcome !== 'unknown' && faults === host.namespaceFaults)
  }

  private async delete(): Promise<void> {
    const { host, commander } = this
    const { created } = host.spaces
    if (created === undefined) return
    // A later namespace may get the same NSID, so no command for this one may remain.
    await commander.settle()
    if (this.isInUse(created)) return
    const faults = host.namespaceFaults
    const command = await commander.send('manage', { opcode: MANAGEMENT, nsid: created, cdw: { 10: 1 } }, ['0/00'])
    if (command === undefined) return
    const outcome = await this.outcomeOf('delete namespace', command)
    if (outcome === 'done') {
      host.spaces.delete(created)
      this.erase(created)
    }
    await this.learn(outcome !== 'unknown' && faults === host.namespaceFaults)
  }

  private erase(nsid: number): void {
    const { host } = this
    // These commands can no longer take effect, and their completions were dropped.
    for (const command of host.ledger.outstanding) {
      if (command.order?.nsid === nsid && command.injected.has('drop-completion')) host.forget(command)
    }
    host.medium.erase(nsid)
    host.fused.forget()
  }

  /** Returns whether a command for the namespace may still be executed. */
  private isInUse(nsid: number): boolean {
    const { ledger } = this.host
    return ledger.outstanding.some(({ order, injected, completions }) => {
      return order?.nsid === nsid && completions === 0 && !injected.has('drop-completion')
    })
  }

  private get hasNamespaceFaults(): boolean {
    return this.host.namespaceFaults > 0 || this.host.mayChangeNamespaces
  }

  /** Waits for a command and returns whether it was executed. */
  private async outcomeOf(what: string, command: Submitted): Promise<'done' | 'none' | 'unknown'> {
    await this.commander.answer(command)
    const { status, injected, isLost } = command
    if (status === undefined) {
      if (injected.has('hang') && !isLost) return 'none'
      // A reset ends the command, which may or may not have been executed.
      await this.commander.reset('controller')
      return 'unknown'
    }
    if (status === '0/00' && !injected.has('status')) {
      this.host.verdicts.tally.add(what)
      return 'done'
    }
    return command.isDelayed ? 'unknown' : 'none'
  }

  /**
   * Identifies the namespaces and adopts their state, unless it is known and was checked recently.
   * @param isKnown whether the state must be as expected.
   */
  private async learn(isKnown: boolean): Promise<void> {
    const { host } = this
    if (isKnown && this.managed++ % CHECKED_EVERY !== 0) return
    for (let attempt = 0; attempt < LEARNINGS; attempt++) {
      const faults = host.namespaceFaults
      const found = await this.identifyAll()
      if (found !== undefined && faults === host.namespaceFaults) {
        this.adopt(found, isKnown)
        return
      }
      if (found === undefined) await this.commander.reset('controller')
      isKnown &&= faults === host.namespaceFaults
    }
    throw new RunFailure('namespaces', `Identify failed ${LEARNINGS} times`)
  }

  private async identifyAll(): Promise<Space[] | undefined> {
    const allocated = await this.list(CNS.allocated)
    const attached = allocated && (await this.list(CNS.attached))
    if (attached === undefined) return undefined
    const spaces: Space[] = []
    for (const nsid of allocated!) {
      const data = await this.identify(CNS.allocatedNamespace, nsid)
      if (data === undefined) return undefined
      const view = new DataView(data.buffer)
      const format = formatOf(data[26]! & 0xf, (data[26]! & EXTENDED) !== 0)
      const capacityBytes = Number(view.getBigUint64(48, true))
      const blocks = Number(view.getBigUint64(0, true))
      spaces.push({ nsid, ...format, blocks, capacityBytes, isAttached: attached.includes(nsid) })
    }
    return spaces
  }

  private async list(cns: number): Promise<number[] | undefined> {
    const data = await this.identify(cns, 0)
    return data && [...new Uint32Array(data.buffer)].filter((nsid) => nsid !== 0)
  }

  private async identify(cns: number, nsid: number): Promise<Uint8Array | undefined> {
    const { commander } = this
    const entry = { opcode: IDENTIFY, nsid, cdw: { 10: cns } }
    const command = await commander.send('manage', entry, ['0/00'], new Uint8Array(0))
    if (command === undefined || !(await commander.answer(command)) || command.injected.has('corrupt-data')) {
      return undefined
    }
    return command.slot!.data.bytes.slice(0, 4096)
  }

  private adopt(found: readonly Space[], isKnown: boolean): void {
    const { host } = this
    const expected = host.spaces.all
    if (isKnown && describe(found) !== describe(expected)) {
      throw new RunFailure('namespaces', `expected ${describe(expected)}, got ${describe(found)}`)
    }
    for (const { nsid } of expected) if (!found.some((each) => each.nsid === nsid)) this.drop(nsid)
    for (const space of found) {
      const before = host.spaces.get(space.nsid)
      if (before === undefined) host.spaces.created = space.nsid
      const isSameFormat = before !== undefined && formatWords(before) === formatWords(space)
      // The namespace was formatted, so no earlier content remains.
      if (!isSameFormat) this.erase(space.nsid)
      host.spaces.set(space)
    }
  }

  private drop(nsid: number): void {
    this.host.spaces.delete(nsid)
    this.erase(nsid)
  }
}

function blocksIn(capacityBytes: number, format: Pick<Space, 'blockBytes' | 'metadataBytes'>): number {
  return Math.floor(capacityBytes / (format.blockBytes + format.metadataBytes))
}

function formatWords({ blockBytes, metadataBytes, isExtended }: Space): string {
  return `${blockBytes}+${metadataBytes}${isExtended ? ' extended' : ''}`
}

function describe(spaces: readonly Space[]): string {
  const words = (space: Space) =>
    `NSID ${space.nsid}: ${space.blocks} x ${formatWords(space)}${space.isAttached ? '' : ' detached'}`
  return spaces.map(words).join(', ')
}
