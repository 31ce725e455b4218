// A proxy between host and target that records every byte.
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { TARGET_PORT } from './target.js'

export const RECORDED_PORT = 4421

/** Bytes of one connection, by direction, in the order of arrival at the proxy. */
interface Recorded {
  readonly host: Buffer[]
  readonly controller: Buffer[]
}

const connections: Recorded[] = []

function forward(from: Socket, to: Socket, chunks: Buffer[]): void {
  from.on('data', (data: Buffer) => {
    chunks.push(data)
    to.write(data)
  })
  from.on('close', () => to.destroy())
  from.on('error', () => to.destroy())
}

const proxy = createServer((host) => {
  const recorded: Recorded = { host: [], controller: [] }
  connections.push(recorded)
  const controller = connect(TARGET_PORT, '127.0.0.1')
  forward(host, controller, recorded.host)
  forward(controller, host, recorded.controller)
})

/** Forwards connections to `RECORDED_PORT` from now on. */
export async function startProxy(): Promise<void> {
  await new Promise<void>((resolve) => proxy.listen(RECORDED_PORT, '127.0.0.1', resolve))
}

/** Waits until the controller has sent these bytes on a connection that is not printed yet; the scenario's timeout ends it. */
export async function waitUntilSent(bytes: Buffer): Promise<void> {
  while (!connections.some(({ controller }) => Buffer.concat(controller).includes(bytes))) await sleep(50)
}

/** Prints the bytes of each connection since the last call as one line of JSON. */
export function printConnections(name: string): void {
  for (const { host, controller } of connections.splice(0)) {
    const [sent, received] = [host, controller].map((chunks) => Buffer.concat(chunks).toString('base64'))
    process.stdout.write(`${JSON.stringify({ name, host: sent, controller: received })}\n`)
  }
}
