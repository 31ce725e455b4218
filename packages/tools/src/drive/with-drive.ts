import { Controller, type Namespace, type WritableNamespace } from '@gpunvme/host-driver'
import { GpuNvmeError } from '@gpunvme/nvme-spec'
import { openEngine, openTransport, type EngineName, type OpenedTransport, type TransportName } from '../open.js'
import type { TransportFlags } from '../command-line/options.js'

/** A controller that is up, and the namespace that models live on. */
export interface Drive<N extends Namespace = Namespace> {
  readonly controller: Controller<N>
  readonly namespace: N
}

export interface WriteFlags {
  readonly serial?: string
  readonly overwrite?: readonly string[]
}

/**
 * Opens what the flags name, lends it, and closes it however `use` ends. The controller is not touched.
 * @throws as `openTransport` and `openEngine`: an engine that cannot drive it is refused before anything is made for it.
 */
export async function withTransport<T>(
  flags: TransportFlags,
  access: 'read' | 'write',
  use: (opened: OpenedTransport) => Promise<T>,
): Promise<T> {
  const { transport, profile, seed, image, capacity } = flags
  // open.ts is where names are looked up; here they are words from a command line.
  const opened = await openTransport(transport as TransportName, {
    profile,
    seed,
    ...(image !== undefined && { image, readOnly: access === 'read' }),
    ...(capacity !== undefined && { capacityBytes: capacity }),
  })
  try {
    openEngine(flags.engine as EngineName, opened.transport)
    return await use(opened)
  } catch (error) {
    // What the drive then reports as its own failure is only what followed from the host's.
    const followed = error instanceof GpuNvmeError && error.category === 'device'
    throw (followed ? opened.hostError() : undefined) ?? error
  } finally {
    await opened.close()
  }
}

/** Brings the controller up for reading. */
export async function withReader<T>(
  { transport }: OpenedTransport,
  flags: TransportFlags,
  use: (drive: Drive) => Promise<T>,
): Promise<T> {
  const { queues, depth: queueDepth } = flags
  const engine = openEngine(flags.engine as EngineName, transport)
  return lend(await Controller.open(transport, { engine, queues, queueDepth }), use)
}

/** Brings the controller up for writing. */
export async function withWriter<T>(
  { transport, serial: simulated }: OpenedTransport,
  flags: TransportFlags & WriteFlags,
  use: (drive: Drive<WritableNamespace>) => Promise<T>,
): Promise<T> {
  const { queues, depth: queueDepth, serial = simulated, overwrite = [] } = flags
  const engine = openEngine(flags.engine as EngineName, transport)
  return lend(await Controller.open(transport, { engine, queues, queueDepth, write: { serial, overwrite } }), use)
}

async function lend<N extends Namespace, T>(controller: Controller<N>, use: (drive: Drive<N>) => Promise<T>) {
  try {
    return await use({ controller, namespace: controller.namespace(1) })
  } finally {
    await controller.close()
  }
}
