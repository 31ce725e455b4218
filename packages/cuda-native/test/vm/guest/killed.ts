// Kills a process during its reads and writes. The next process must be able to open the controller.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Controller } from '@gpunvme/host-driver'
import { bytesOf, driverOf, fixed, MIB, openTransport, print, take } from './lib.js'
import { randomBytes } from './pattern.js'

await using binding = await take(fixed)

const victim = spawn(process.execPath, [join(import.meta.dirname, 'busy.js')], { stdio: ['ignore', 'pipe', 'inherit'] })
const exit = once(victim, 'exit') as Promise<[number | null, string | null]>
// The first line is printed when plans are in flight.
const said = await Promise.race([once(victim.stdout, 'data').then(String), exit.then(() => 'nothing')])
await sleep(200)
victim.kill('SIGKILL')
const [, signal] = await exit

await using transport = await openTransport(binding)
await using ctrl = await Controller.open(transport, { queues: 4, write: { serial: fixed.serial } })
const ns = ctrl.namespace(1)
const memory = ns.dma.alloc(4 * MIB)
const written = randomBytes(4 * MIB, 3)
written.copy(bytesOf(memory))
await ns.write(0, memory.lengthBytes / ns.blockBytes, memory)
bytesOf(memory).fill(0xa5)
await ns.read(0, memory.lengthBytes / ns.blockBytes, memory)
print({ said: said.trim(), signal, readBack: bytesOf(memory).equals(written), driver: driverOf(fixed) })
