import { CommandError } from '../commands/command-queue.js'
import type { Session } from './session.js'

/**
 * Does something that a controller may do without, and tells as an event when the controller refuses it.
 * @param what is not in force then.
 * @returns whether it was done. @throws whatever is no refusal.
 */
export async function unlessRefused(
  { hub, transport }: Pick<Session, 'hub' | 'transport'>,
  what: string,
  action: () => Promise<unknown>,
): Promise<boolean> {
  try {
    await action()
    return true
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    hub.emit({ kind: 'refused', timeNs: transport.clock.now(), what, reason: error.message })
    return false
  }
}
