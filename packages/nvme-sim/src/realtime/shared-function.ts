import type { ConfigSpace, Interrupts } from '@gpunvme/nvme-spec/transport'
import { checkConfigAccess } from '../pci/host-config.js'
import { checkVector } from '../pci/host-interrupts.js'
import { CONFIG_READ, CONFIG_WRITE, TAKE_INTERRUPT } from './control.js'
import type { HostClock } from './host-clock.js'
import type { Mailbox } from './mailbox.js'

/** Configuration space for a JavaScript host, over the mailbox. */
export class SharedConfigSpace implements ConfigSpace {
  private readonly mailbox: Mailbox

  constructor(mailbox: Mailbox) {
    this.mailbox = mailbox
  }

  read(offset: number, widthBytes: 1 | 2 | 4): number {
    checkConfigAccess(offset, widthBytes)
    return this.mailbox.ask(CONFIG_READ + widthBytes, offset) ?? 2 ** (8 * widthBytes) - 1
  }

  write(offset: number, widthBytes: 1 | 2 | 4, value: number): void {
    checkConfigAccess(offset, widthBytes)
    this.mailbox.post(CONFIG_WRITE + widthBytes, offset, value)
  }
}

/** Interrupts for a JavaScript host: checked whenever the controller has done something. */
export class SharedInterrupts implements Interrupts {
  readonly vectors: number
  private readonly mailbox: Mailbox
  private readonly clock: HostClock

  constructor(vectors: number, mailbox: Mailbox, clock: HostClock) {
    this.vectors = vectors
    this.mailbox = mailbox
    this.clock = clock
  }

  async wait(vector: number, untilNs: number): Promise<'fired' | 'deadline'> {
    checkVector(vector, this.vectors)
    for (;;) {
      if (this.mailbox.ask(TAKE_INTERRUPT, vector) === 1) return 'fired'
      if (this.clock.now() >= untilNs) return 'deadline'
      await this.clock.idle(untilNs)
    }
  }
}
