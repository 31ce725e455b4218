import { closeSync, lstatSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { profileOf } from '../profiles/index.js'
import { importVfioUserHost } from './import-host.js'
import { checkServerOptions, CONTROL_BYTES, type VfioUserServerOptions, type VfioUserWorkerOptions } from './options.js'
import { ServerThread } from './server-thread.js'
import { asSocketError, clearSocketPath, removeSocket } from './socket-path.js'
import type { VfioUserStatistics } from './statistics.js'

/** A simulated controller that programs of others use as a PCI function, over a socket. */
export interface VfioUserServer {
  /** Path of the socket that it listens at. */
  readonly socket: string
  /** What it has done so far, over all its clients. @throws VfioUserServerError when it has ended, or is late. */
  statistics(): Promise<VfioUserStatistics>
  /** What clients and their drivers did wrong, in their authors' words. @throws VfioUserServerError as above. */
  diagnostics(): Promise<readonly string[]>
  /** Resolves after `close`; rejects with a VfioUserServerError when the thread ends by itself. */
  readonly closed: Promise<void>
  /**
   * Sends the client away, flushes what is written, removes the socket and ends the thread, by force where it does not end
   * by itself. May be called again. @throws VfioUserServerError where that went wrong; its cause says what.
   */
  close(): Promise<void>
}

/**
 * Starts a vfio-user server on a thread of its own: QEMU 10.1 and later, SPDK and host-driver's `vfio-user` transport see the
 * simulated controller as a PCI function. One client at a time; each finds the controller as after power on. Resolves when it
 * listens. The program stays for as long as the server does.
 * @throws RangeError or TypeError, with its name, for an option that cannot be; FaultPlanError for a plan that is none;
 *   VfioUserSocketError where it cannot listen; what the system says of an image or a trace file.
 */
export async function startVfioUserServer(options: VfioUserServerOptions): Promise<VfioUserServer> {
  checkServerOptions(options)
  const { socket, module, profile = 'ideal', seed = 1, namespaces = [{}], faults, trace } = options
  const drive = profileOf(profile)
  const host = await importVfioUserHost(module.href)
  await clearSocketPath(socket)
  const control = new SharedArrayBuffer(CONTROL_BYTES)
  // Of this thread: whoever wakes the other one must know that the descriptor is still what it was.
  const wake = host.eventfd()
  const workerData: VfioUserWorkerOptions = {
    ...{ socket, module: module.href, profile: drive, seed, namespaces, faults, trace, control, wake },
    mappedDoorbells: options.mappedDoorbells ?? false,
  }
  // Options of this process may be about a program on its command line, or be none that a thread can take.
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
    // What a thread cannot be given.
    closeSync(wake)
    throw error
  }
}
