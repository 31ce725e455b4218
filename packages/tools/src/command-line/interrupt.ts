import type { Io } from '../terminal/io.js'
import { EXIT } from './exit-codes.js'
import { ToolsError } from './tools-error.js'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export interface Interrupts {
  readonly signal: AbortSignal
  /** Removes the signal handlers. */
  stop(): void
}

/**
 * The first signal requests the command to end: it waits for commands in flight, so that no DMA remains, and removes
 * temporary files. The second one ends the process at once.
 */
export function listenForInterrupts({ signals, exit }: Pick<Io, 'signals' | 'exit'>, onFirst: () => void): Interrupts {
  const controller = new AbortController()
  const listener = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) {
      exit(EXIT.interrupted)
      return
    }
    controller.abort(new InterruptedError(name))
    onFirst()
  }
  for (const name of SIGNALS) signals.on(name, listener)
  return {
    signal: controller.signal,
    stop() {
      for (const name of SIGNALS) signals.off(name, listener)
    },
  }
}

/** Error of a command that was interrupted. */
export class InterruptedError extends ToolsError {
  constructor(signal: string) {
    super('ERR_GPUNVME_INTERRUPTED', 'interrupted', `Interrupted by ${signal}`)
  }
}
