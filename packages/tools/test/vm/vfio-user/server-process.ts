import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { VfioUserServer, VfioUserServerOptions } from '@gpunvme/nvme-sim/vfio-user'

/** What the process has done so far, and the processor time that it took. */
export interface ProcessStatistics {
  readonly statistics: Awaited<ReturnType<VfioUserServer['statistics']>>
  readonly cpuMicroseconds: { readonly user: number; readonly system: number }
}

/** A server that is a process of its own. */
export class ServerProcess {
  readonly pid: number
  private readonly child: ChildProcess

  /** Resolves when it listens. @throws Error where it ends before. */
  static async start(options: Omit<VfioUserServerOptions, 'module'>): Promise<ServerProcess> {
    const program = join(import.meta.dirname, 'serve-process.mjs')
    // Identifiers of namespaces are bytes, which JSON does not have.
    const child = fork(program, { serialization: 'advanced', stdio: 'inherit' })
    child.send(options)
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the server ended with ${String(code)} before it listened`)
    })
    await Promise.race([once(child, 'message'), ended])
    ended.catch(() => undefined)
    return new ServerProcess(child)
  }

  private constructor(child: ChildProcess) {
    this.child = child
    this.pid = child.pid!
  }

  async statistics(): Promise<ProcessStatistics> {
    const answer = once(this.child, 'message')
    this.child.send('statistics')
    return ((await answer) as [ProcessStatistics])[0]
  }

  /** Ends it at once, as the system does when memory runs out: nothing of it gets to run any more. */
  async kill(): Promise<void> {
    const ended = once(this.child, 'exit')
    if (this.child.kill('SIGKILL')) await ended
  }

  async close(): Promise<void> {
    const ended = once(this.child, 'exit')
    this.child.send('close')
    await ended
  }
}
