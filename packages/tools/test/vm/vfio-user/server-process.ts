import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { VfioUserServer, VfioUserServerOptions } from '@gpunvme/nvme-sim/vfio-user'

/** Statistics of the server, and its CPU time. */
export interface ProcessStatistics {
  readonly statistics: Awaited<ReturnType<VfioUserServer['statistics']>>
  readonly cpuMicroseconds: { readonly user: number; readonly system: number }
}

/** A server in its own process. */
export class ServerProcess {
  readonly pid: number
  private readonly child: ChildProcess

  /** Resolves when the server listens. @throws Error if the process ends before */
  static async start(options: Omit<VfioUserServerOptions, 'module'>): Promise<ServerProcess> {
    const program = join(import.meta.dirname, 'serve-process.mjs')
    // JSON cannot represent the bytes of namespace identifiers.
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

  /** Kills the process by SIGKILL, as the kernel does when memory runs out. */
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
