import { Controller, type Namespace, type WritableNamespace, type WriteRequest } from '@gpunvme/host-driver'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { firstFailure } from '../command-line/first-failure.js'
import type { DriveFlags, TransportFlags } from '../command-line/options.js'
import { openEngine, type EngineName } from './by-name.js'
import type { Output } from '../terminal/output.js'
import { wrapTraced } from '../tracing/active.js'
import { confirmDrive, type ConfirmFlags } from './confirm-drive.js'
import { nameOpened, nameSet } from './named-drive.js'
import { namespaceOf } from './namespace-of.js'
import { openNamed } from './open-named.js'
import type { OpenedTransport } from './opened-transport.js'
import { requireNamedDrive } from './require-named.js'

/** An open controller, and the namespace for models. */
export interface Drive<N extends Namespace = Namespace> {
  readonly controller: Controller<N>
  readonly namespace: N
}

export interface WriteFlags extends ConfirmFlags {
  readonly overwrite?: readonly string[]
}

type OpenFlags = DriveFlags & { readonly engine?: string }

/**
 * Opens the drive of the flags, names it in the output, lends it, and closes it in all cases. Does not access the
 * controller.
 * @throws errors of `requireNamedDrive` and `lendTransport`
 */
export async function withTransport<T>(
  flags: OpenFlags,
  access: 'read' | 'write',
  output: Output,
  use: (opened: OpenedTransport) => Promise<T>,
): Promise<T> {
  return withTransports([flags], access, output, ([opened]) => use(opened!))
}

/** Like `withTransport`, for several drives, such as those of a set. Without drives, `use` gets none. */
export async function withTransports<T>(
  drives: readonly OpenFlags[],
  access: 'read' | 'write',
  output: Output,
  use: (opened: readonly OpenedTransport[]) => Promise<T>,
): Promise<T> {
  for (const drive of drives) await requireNamedDrive(drive)
  const next = (opened: readonly OpenedTransport[]): Promise<T> => {
    const drive = drives[opened.length]
    if (drive !== undefined) return lendTransport(drive, access, (transport) => next([...opened, transport]))
    const names = opened.map((transport, at) => nameOpened(transport, drives[at]!))
    if (names.length > 0) output.nameDrive(names.length === 1 ? names[0]! : nameSet(names))
    return use(opened)
  }
  return next([])
}

/**
 * Opens a drive, lends it, and closes it in all cases, for verbs that choose and name the drive themselves. Without
 * flags, it is a simulated drive.
 * @throws errors of `openTransport` and `openEngine`: an unsuitable engine is rejected before anything is created for
 * it.
 */
export async function lendTransport<T>(
  flags: OpenFlags,
  access: 'read' | 'write',
  use: (opened: OpenedTransport) => Promise<T>,
): Promise<T> {
  const opened = await openTraced(flags, access)
  try {
    if (flags.engine !== undefined) openEngine(flags.engine as EngineName, opened.transport)
    return await use(opened)
  } catch (thrown) {
    throw causeOf(thrown, opened)
  } finally {
    await opened.close()
  }
}

/** Opens a drive, with its accesses traced if requested. The caller closes it. */
export async function openTraced(flags: DriveFlags, access: 'read' | 'write'): Promise<OpenedTransport> {
  const found = await openNamed(flags, access)
  return { ...found, transport: wrapTraced(found.transport, found.time) }
}

/** Returns the host's error if the thrown one is a device error caused by it; otherwise the thrown one. */
export function causeOf(thrown: unknown, { hostError }: OpenedTransport): unknown {
  const error = firstFailure(thrown)
  const isDevice = error instanceof GpuNvmeError && error.category === 'device'
  return (isDevice ? hostError() : undefined) ?? error
}

/** Opens the controller for reading. */
export async function withReader<T>(
  { transport }: OpenedTransport,
  flags: TransportFlags,
  use: (drive: Drive) => Promise<T>,
): Promise<T> {
  const { queues, depth: queueDepth } = flags
  const engine = openEngine(flags.engine as EngineName, transport)
  return lend(await Controller.open(transport, { engine, queues, queueDepth }), flags, use)
}

/**
 * Opens the controller for writing. A real drive must be confirmed first.
 * @throws errors of `confirmDrive`, and of `Controller.open` if the serial number differs.
 */
export async function withWriter<T>(
  opened: OpenedTransport,
  flags: TransportFlags & WriteFlags,
  output: Output,
  use: (drive: Drive<WritableNamespace>) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const { queues, depth: queueDepth } = flags
  const write = await writeRequest(opened, flags, output, signal)
  const engine = openEngine(flags.engine as EngineName, opened.transport)
  return lend(await Controller.open(opened.transport, { engine, queues, queueDepth, write }), flags, use)
}

/** Returns the write request for a controller. @throws errors of `confirmDrive` */
export async function writeRequest(
  opened: OpenedTransport,
  flags: WriteFlags,
  output: Output,
  signal?: AbortSignal,
): Promise<WriteRequest> {
  return { serial: await confirmDrive(opened, flags, output, signal), overwrite: flags.overwrite ?? [] }
}

/**
 * Lends a controller and a namespace, by default the first active one, and closes the controller. If `use` fails, its
 * error is thrown even if closing fails too.
 */
export async function lend<N extends Namespace, T>(
  controller: Controller<N>,
  { nsid }: { readonly nsid?: number | undefined },
  use: (drive: Drive<N>) => Promise<T>,
): Promise<T> {
  let result: T
  try {
    result = await use({ controller, namespace: namespaceOf(controller, nsid) })
  } catch (error) {
    await controller.close().catch(() => undefined)
    throw error
  }
  await controller.close()
  return result
}
