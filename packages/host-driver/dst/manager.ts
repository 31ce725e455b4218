import { RunFailure } from '@gpunvme/nvme-sim/dst'
import type { DriverController } from '../conformance/driver.js'
import type { Host } from './host.js'
import { CREATED_BLOCKS } from './make-scenario.js'
import { CREATED, type Management } from './scenario.js'

/** LBA format indexes of the simulator: 0 has blocks of 512 bytes, 1 has blocks of 4096 bytes. */
const BLOCK_BYTES = [512, 4096] as const

/**
 * Formats, creates, attaches, detaches and deletes namespaces through the driver. The media show whether a format was
 * executed, independently of the outcome that the driver reports.
 */
export class Manager {
  private readonly host: Host
  /** NSID of the namespace that the host has created. */
  private created: number | undefined
  /** Number of formats executed on the media. */
  private erased = 0
  /** Block sizes of formats that were sent and may still be executed, by NSID. */
  private readonly formatting = new Map<number, 512 | 4096>()

  constructor(host: Host) {
    this.host = host
    for (const [nsid, each] of host.world.media) each.media.onErase = () => this.noteErased(nsid)
  }

  /** Resolves the NSID of a step; undefined if it is `CREATED` and the host has created no namespace. */
  nsidOf(nsid: number): number | undefined {
    return nsid === CREATED ? this.created : nsid
  }

  async take(management: Management): Promise<void> {
    const { host } = this
    const { ctrl, world, medium } = host
    const managed = ctrl?.management
    if (managed === undefined) return
    const { timeoutNs } = host.scenario
    const options = { timeoutNs }
    const nsid = 'nsid' in management ? this.nsidOf(management.nsid) : this.created
    const isListed = ctrl!.namespaces.some((each) => each.nsid === nsid)
    const attempt = async (name: string, mayFail: boolean, call: (nsid: number) => Promise<void>) => {
      if (nsid === undefined) return
      try {
        await call(nsid)
        host.tally.add(name)
      } catch (error) {
        if (error instanceof RunFailure) throw error
        host.refuse(`${name} of NSID ${nsid}`, error, mayFail)
        if (name === 'format' && !world.media.has(nsid)) medium.mayErase(nsid)
      }
    }
    switch (management.what) {
      case 'format':
        return attempt('format', !isListed, (found) => this.format(ctrl!, found, management.lbaFormat))
      case 'create':
        return this.create(ctrl!, management.lbaFormat)
      case 'attach':
        return attempt('attach', isListed, async (found) => {
          await managed.attach(found, undefined, options)
          this.checkListed(ctrl!, found, true)
        })
      case 'detach':
        return attempt('detach', !isListed, async (found) => {
          await managed.detach(found, undefined, options)
          this.checkListed(ctrl!, found, false)
        })
      case 'delete':
        return attempt('delete', false, async (found) => {
          // Forgotten first: if the outcome is unknown, the namespace may or may not exist, and no later step uses it.
          this.created = undefined
          await managed.deleteNamespace(found, options)
          this.checkListed(ctrl!, found, false)
        })
    }
  }

  private async format(ctrl: DriverController, nsid: number, lbaFormat: 0 | 1): Promise<void> {
    const { host } = this
    const { medium, world } = host
    const { timeoutNs } = host.scenario
    const blockBytes = BLOCK_BYTES[lbaFormat]
    const [{ erased }, isSeen] = [this, world.media.has(nsid)]
    this.formatting.set(nsid, blockBytes)
    host.later(() => this.formatting.delete(nsid))
    await ctrl.management!.format(nsid, { lbaFormat, timeoutNs })
    this.formatting.delete(nsid)
    if (!isSeen) medium.erase(nsid)
    else if (this.erased === erased)
      throw new RunFailure('outcome', `format of NSID ${nsid}: reported success, but the media were not erased`)
    const found = ctrl.namespaces.find((each) => each.nsid === nsid)
    if (found !== undefined && found.blockBytes !== blockBytes && world.injectedCount === 0) {
      throw new RunFailure(
        'outcome',
        `format of NSID ${nsid}: expected blocks of ${blockBytes} bytes, got ${found.blockBytes}`,
      )
    }
  }

  private async create({ management }: DriverController, lbaFormat: 0 | 1): Promise<void> {
    const { host } = this
    const { timeoutNs } = host.scenario
    // The unallocated capacity is sufficient for one namespace with blocks of 4096 bytes.
    const isRefused = this.created !== undefined && lbaFormat === 1
    if (this.created !== undefined && !isRefused) return
    try {
      const nsid = await management!.createNamespace({ blocks: CREATED_BLOCKS, lbaFormat }, { timeoutNs })
      if (isRefused || host.world.media.has(nsid)) {
        const expected = isRefused ? 'an error' : 'a free NSID'
        throw new RunFailure('outcome', `create: expected ${expected}, got NSID ${nsid}`)
      }
      this.created = nsid
      host.medium.erase(nsid)
      host.tally.add('create')
    } catch (error) {
      if (error instanceof RunFailure) throw error
      host.refuse('create', error, isRefused)
    }
  }

  /** Checks whether the driver lists a namespace after a successful change, unless a fault may hide the change. */
  private checkListed({ namespaces }: DriverController, nsid: number, isExpected: boolean): void {
    const isListed = namespaces.some((each) => each.nsid === nsid)
    if (isListed === isExpected || this.host.world.injectedCount > 0) return
    throw new RunFailure('outcome', `NSID ${nsid} is ${isListed ? 'still' : 'not'} listed after its change`)
  }

  private noteErased(nsid: number): void {
    const blockBytes = this.formatting.get(nsid)
    if (blockBytes === undefined) return
    this.erased++
    const { medium, world } = this.host
    medium.erase(nsid)
    const entry = world.media.get(nsid)!
    entry.shape = { nsid, blockBytes, blocks: Math.floor(entry.media.capacityBytes / blockBytes) }
  }
}
