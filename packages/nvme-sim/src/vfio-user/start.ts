import { closeSync, lstatSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import type { Diagnostic } from '../controller/diagnostics.js'
import { profileOf } from '../profiles/index.js'
import { importVfioUserHost } from './import-host.js'
import { checkServerOptions, CONTROL_BYTES, type VfioUserServerOptions, type VfioUserWorkerOptions } from './options.js'
import { ServerThread } from './server-thread.js'
import { asSocketError, clearSocketPath, removeSocket } from './socket-path.js'
import type { VfioUserStatistics } from './statistics.js'

/** A simulated controller that other programs use as a PCI function, over a socket. */
export interface VfioUserServer {
  /** Path of the socket that it listens at. */
  readonly socket: string
  /**
   * Returns its counters, over all clients. @throws VfioUserServerError if it has ended, or does not answer in time.
   */
  statistics(): Promise<VfioUserStatistics>
  /** Returns mistakes of clients and their drivers, oldest first. @throws VfioUserServerError as above. */
  diagnostics(): Promise<readonly Diagnostic[]>
  /** Resolves after `close`; rejects with a VfioUserServerError if the thread ends by itself. */
  readonly closed: Promise<void>
  /**
   * Disconnects the client, flushes written data, removes the socket and ends the thread, by force if it does not end
   * by itself. May be called again. @throws VfioUserServerError if that failed, with the reason as its cause.
   */
  close(): Promise<void>
}

/**
 * Starts a vfio-user server on its own thread: QEMU 10.1 and later, SPDK and host-driver's `vfio-user` transport see
 * the simulated controller as a PCI function. It serves one client at a time; each finds the controller in its power-on
 * state. Resolves when it listens. The server keeps the program running.
 * @throws RangeError or TypeError, with its name, for an invalid option; FaultPlanError for an invalid plan;
 *   VfioUserSocketError if it cannot listen; system errors of an image or a trace file.
 */
export async function startVfioUserServer(options: VfioUserServerOptions): Promise<VfioUserServer> {
  checkServerOptions(options)
  const { socket, module, profile = 'ideal', seed = 1, namespaces = [{}], faults, trace } = options
  const drive = profileOf(profile)
  const host = await importVfioUserHost(module.href)
  await clearSocketPath(socket)
  const control = new SharedArrayBuffer(CONTROL_BYTES)
  // Owned by this thread, which must be able to rely on the descriptor when it wakes the other one.
  const wake = host.eventfd()
  const workerData: VfioUserWorkerOptions = {
    ...{ socket, module: module.href, profile: drive, seed, namespaces, faults, trace, control, wake },
    mappedDoorbells: options.mappedDoorbells ?? false,
  }
  // Options of this process may refer to a program on its command line, or be invalid for a thread.
  const worker = startWorker(workerData, wake)
  const thread = new ServerThread(worker, new Int32Array(control), wake)
  try {
    await thread.ready
  } catch (error) {
    await thread.closed.catch(() => undefined)
    throw asSocketError(error, socket)
  }
  const made = lstatSync(socket)
  void thread.closed.catch(() => undefined).then(() => removeSocket(socket, made))
  return {
    socket,
    statistics: () => thread.ask('statistics'),
    diagnostics: () => thread.ask('diagnostics'),
    closed: thread.closed,
    async close() {
      try {
        await thread.close()
      } finally {
        removeSocket(socket, made)
      }
    },
  }
}

function startWorker(workerData: VfioUserWorkerOptions, wake: number): Worker {
  try {
    return new Worker(new URL('./worker.js', import.meta.url), { workerData, execArgv: [] })
  } catch (error) {
    // For options that cannot be passed to a thread.
    closeSync(wake)
    throw error
  }
}
