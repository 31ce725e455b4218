import { constants, openSync, readSync } from 'node:fs'

/** Level and text of a kernel message. Levels are 0 (emergency) to 7 (debug); 3 is an error, 4 a warning. */
export type KernelMessage = readonly [level: number, text: string]

/** Reads kernel messages, beginning at the current end of the log. */
export class KernelMessages {
  private readonly log = openSync('/dev/kmsg', constants.O_RDONLY | constants.O_NONBLOCK)
  private readonly record = Buffer.alloc(8192)

  constructor() {
    this.next()
  }

  /** Returns the messages since the last call. */
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
        // The buffer of the kernel has overflowed: the oldest messages are lost.
        if (code !== 'EPIPE') throw error
      }
    }
  }
}
