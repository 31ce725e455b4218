import childProcess from 'node:child_process'
import dgram from 'node:dgram'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import workerThreads from 'node:worker_threads'

// Setup file of the unit tier: starting a process or a thread, loading a native addon or opening a socket throws. A
// test that needs one of them belongs to another tier and is listed in test/tiers.json.

/** Returns a function that throws when it is called. */
function forbid(what: string) {
  // Not an arrow function: classes are called with `new`.
  return function () {
    throw new Error(
      `A unit test may not ${what}: list its file in test/tiers.json, or move the test to a file listed there`,
    )
  }
}

const start = forbid('start a process')
const listen = forbid('open a socket')
for (const name of ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork'])
  Object.assign(childProcess, { [name]: start })
net.Server.prototype.listen = listen
net.Socket.prototype.connect = listen
dgram.createSocket = listen
process.dlopen = forbid('load a native addon')
Object.assign(workerThreads, { Worker: forbid('start a thread') })
syncBuiltinESMExports()
