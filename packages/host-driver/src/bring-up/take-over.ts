import { resetFunction } from './function-reset.js'
import type { ControllerIdentity } from './identity.js'
import { ControllerNotReadyError } from './ready.js'
import type { Session } from './session.js'
import { COMMANDS_TOGETHER_NS } from './too-slow.js'

/**
 * Starts a controller from any state. If CSTS.RDY does not follow CC.EN, only an external reset helps (Base 2.1
 * §3.7.2): the function is then reset once, if the transport can.
 * @param check see `Session.start`.
 * @throws ControllerNotReadyError also after that reset; errors of `Session.stop` and `Session.start`.
 */
export async function takeOver(session: Session, check: (identity: ControllerIdentity) => void): Promise<void> {
  const { hub, transport, options } = session
  const { clock, whole, name } = transport
  const begin = async () => {
    await session.stop()
    await session.start(Math.max(COMMANDS_TOGETHER_NS, options.commandTimeoutNs), check)
  }
  try {
    await begin()
    return
  } catch (error) {
    if (!(error instanceof ControllerNotReadyError) || whole.reset === undefined) throw error
  }
  const startNs = clock.now()
  const tell = (result: 'begun' | 'succeeded' | 'failed') => {
    const timeNs = clock.now()
    hub.emit({ kind: 'recovery', timeNs, step: 'function-reset', result, tookNs: timeNs - startNs })
  }
  tell('begun')
  try {
    await resetFunction(transport)
    await begin()
  } catch (error) {
    tell('failed')
    if (!(error instanceof ControllerNotReadyError)) throw error
    const { found, ready, waitedNs } = error
    throw new ControllerNotReadyError(name, found, ready, waitedNs, 'a reset of the function did not help')
  }
  tell('succeeded')
}
