// The process that start-watcher.ts starts.
import type { Watched } from './start-watcher.js'
import { watchOver } from './watcher.js'

// Of the terminal, and of who ends everything that is called gpunvme: this one has to come to its end.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(signal, () => undefined)
// Who has started it takes the drive now.
process.stdout.write('ready\n')
const watched = JSON.parse(process.argv[2] ?? '') as Watched
process.exitCode = await watchOver(watched, process.stdin.setEncoding('utf8') as AsyncIterable<string>)
