import { RunFailure } from '@gpunvme/nvme-sim/dst'
import type { DriverNamespace } from '../conformance/driver.js'
import { lostBy, type Host } from './host.js'
import type { Steps } from './steps.js'

const MAX_PROOFS = 12

/** Checks that the controller works, or that it was declared lost and works after it has been opened again. */
export async function prove(host: Host, steps: Steps): Promise<void> {
  const { scenario, calls } = host
  for (let proof = 1; host.ctrl !== undefined; proof++) {
    const { ctrl } = host
    const lost = lostBy(ctrl)
    if (lost > 0) {
      if (lost !== 1) throw new RunFailure('lost', `declared lost ${lost} times`)
      await host.reopen()
      continue
    }
    const namespace = ctrl.namespaces.find(({ nsid }) => nsid !== scenario.withMetadata)
    if (namespace === undefined) return
    if (await steps.transfers.roundTrip(namespace)) return
    // The Admin command also lets the driver process asynchronous events, such as a changed namespace.
    if ((await smartLog(host, steps)) && isDetached(host, namespace)) return
    if (proof === MAX_PROOFS)
      throw new RunFailure('usable', `a block could not be written and read back in ${proof} attempts`)
    // A driver without statistics may have no recovery: it must work after it has been opened again.
    if (ctrl.statistics === undefined) await host.reopen()
    // The driver detects a lost completion only when its command times out.
    else await calls.pass(scenario.options.commandTimeoutNs)
  }
}

/** Reads the SMART log; returns whether that succeeded. */
async function smartLog({ calls }: Host, steps: Steps): Promise<boolean> {
  let answered = false
  calls.start('SMART', async () => {
    answered = await steps.askSmart()
  })
  await calls.join()
  return answered
}

/** Returns whether a fault has detached a namespace for good. */
function isDetached({ scenario, world }: Host, { nsid }: DriverNamespace): boolean {
  return scenario.inside.rules.some(
    ({ action }, rule) =>
      action.kind === 'detach-namespace' &&
      action.nsid === nsid &&
      world.simulation.faults.hits[rule]! > 0 &&
      !('attach-namespace' in world.injected),
  )
}
