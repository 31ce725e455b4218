import { constants, openSync, readSync } from 'node:fs'

/** A line of the kernel's log: 0 (emergency) to 7 (debug), 3 is an error and 4 a warning. */
export type KernelMessage = readonly [level: number, text: string]

/** Reads the kernel's log from the end that it has now. */
export class KernelMessages {
  private readonly log = openSync('/dev/kmsg', constants.O_RDONLY | constants.O_NONBLOCK)
  private readonly record = Buffer.alloc(8192)

  constructor() {
    this.next()
  }

  /** What was said since the last call. */
  next(): KernelMessage[] {
    const messages: KernelMessage[] = []
    for (;;) {
      try {
        const text = this.record.toString('utf8', 0, readSync(this.log, this.record))
        const [, priority, message = ''] = /^(\d+),[^;]*;(.*)/.exec(text) ?? []
        messages.push([Number(priority) & 7, message])
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (code === 'EAGAIN') return messages
        // The kernel said more than its buffer holds: the oldest of it is lost.
        if (code !== 'EPIPE') throw error
      }
    }
  }
}
