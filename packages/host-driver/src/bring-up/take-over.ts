import { DriverError, hasCode } from '../error.js'
import { resetFunction } from './function-reset.js'
import type { ControllerIdentity } from './identity.js'
import { COMMANDS_TOGETHER_NS, type Session } from './session.js'

/**
 * Starts a controller from any state. If CSTS.RDY does not follow CC.EN, only an external reset helps (Base 2.1
 * §3.7.2): the function is then reset once, if the transport can.
 * @param check see `Session.start`.
 * @throws DriverError (NOT_READY) also after that reset; errors of `Session.stop` and `Session.start`.
 */
export async function takeOver(session: Session, check: (identity: ControllerIdentity) => void): Promise<void> {
  const { hub, transport, options } = session
  const { clock, underlying } = transport
  const begin = async () => {
    await session.stop()
    await session.start(Math.max(COMMANDS_TOGETHER_NS, options.commandTimeoutNs), check)
  }
  try {
    await begin()
    return
  } catch (error) {
    if (!hasCode(error, 'ERR_GPUNVME_NOT_READY') || underlying.reset === undefined) throw error
  }
  const startNs = clock.now()
  const report = (result: 'begun' | 'succeeded' | 'failed') => {
    const timeNs = clock.now()
    hub.emit({ kind: 'recovery', timeNs, step: 'function-reset', result, tookNs: timeNs - startNs })
  }
  report('begun')
  try {
    await resetFunction(transport)
    await begin()
  } catch (error) {
    report('failed')
    if (!hasCode(error, 'ERR_GPUNVME_NOT_READY')) throw error
    const { code, category, headline } = error
    const facts = [...error.facts, 'a reset of the function did not help']
    throw new DriverError(code, category, headline, { facts, next: 'power-cycle the drive, then open it again' })
  }
  report('succeeded')
}
