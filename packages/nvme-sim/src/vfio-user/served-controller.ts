import type { FaultPlan, TraceSink, VfioUserHost } from '@gpunvme/nvme-spec/transport'
import { Controller } from '../controller/controller.js'
import { Device } from '../controller/device.js'
import type { Diagnostics } from '../controller/diagnostics.js'
import type { Namespaces } from '../nvm/namespaces.js'
import type { DriveProfile } from '../profiles/profile.js'
import type { WallClock } from '../realtime/wall-clock.js'
import { ClientInterrupts } from './client-interrupts.js'
import { ClientMemory } from './client-memory.js'
import type { Eventfds } from './eventfds.js'
import { ServedBar } from './served-bar.js'
import { ServedConfig } from './served-config.js'
import type { Served } from './server-loop.js'
import { Session } from './session.js'
import { SharedDoorbells } from './shared-doorbells.js'

/** Options of the served controller. */
export interface ServedControllerOptions {
  readonly host: Pick<VfioUserHost, 'mapForeign'>
  readonly clock: WallClock
  readonly namespaces: Namespaces
  readonly profile: DriveProfile
  readonly diagnostics: Diagnostics
  readonly faults: FaultPlan | undefined
  readonly seed: number
  readonly trace: TraceSink | undefined
  readonly mappedDoorbells: boolean
  readonly eventfds: Eventfds
}

/** One controller for successive clients: each finds the power-on state and the data on its namespaces. */
export class ServedController {
  readonly device: Device
  readonly controller: Controller
  private readonly options: ServedControllerOptions
  private readonly memory: ClientMemory
  private readonly interrupts: ClientInterrupts
  private readonly bar: ServedBar
  private readonly config: ServedConfig

  constructor(options: ServedControllerOptions) {
    const { clock, namespaces, profile, diagnostics, faults, seed, trace } = options
    this.options = options
    const memory = new ClientMemory(options.host)
    this.memory = memory
    this.device = new Device({ clock, memory, namespaces, profile, diagnostics, faults, seed, trace })
    this.controller = new Controller(this.device)
    this.device.pci.virtualize()
    this.interrupts = new ClientInterrupts(this.device, options.eventfds)
    this.bar = new ServedBar(this.device, this.controller)
    this.config = new ServedConfig(this.device)
  }

  /** A client has connected. @throws system errors if its doorbells cannot be mapped memory. */
  welcome(): Served {
    const { device, controller, memory, interrupts, bar, config } = this
    const { host, clock, mappedDoorbells } = this.options
    const doorbells = mappedDoorbells ? new SharedDoorbells(host, device, controller, clock) : undefined
    bar.doorbells = doorbells
    return {
      session: new Session({ device, controller, memory, interrupts, bar, config }),
      doorbells: doorbells?.page,
      flush: () => interrupts.flush(),
      unmaskDescriptor: () => interrupts.unmask,
      takeUnmask: () => interrupts.takeUnmask(),
      leave: () => this.leave(doorbells),
    }
  }

  /** The client has disconnected: everything that it set up is dropped. */
  private leave(doorbells: SharedDoorbells | undefined): void {
    const { device, controller, memory, interrupts, bar, config } = this
    // Queues first: nothing is fetched or posted after this.
    controller.moveToNextHost()
    interrupts.clear()
    memory.clear()
    device.memoryChanged()
    bar.reset()
    config.reset()
    device.queues.onCreate = () => undefined
    bar.doorbells = undefined
    doorbells?.close()
  }
}
