import { CommandError } from '../commands/errors.js'
import type { Session } from './session.js'

/**
 * Performs an optional action, and reports its refusal by the controller as an event.
 * @param feature the feature, which is not used if the controller refuses it.
 * @returns whether the action succeeded.
 * @throws other errors.
 */
export async function tryFeature(
  { hub, transport }: Pick<Session, 'hub' | 'transport'>,
  feature: string,
  action: () => Promise<unknown>,
): Promise<boolean> {
  try {
    await action()
    return true
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    hub.emit({ kind: 'refused', timeNs: transport.clock.now(), feature, reason: error.message })
    return false
  }
}
