// The process that start-watcher.ts starts.
import type { Watched } from './start-watcher.js'
import { watchBinding } from './watcher.js'

// Ignores signals of the terminal, and of commands that end all processes named gpunvme: it must finish.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(signal, () => undefined)
// The starting process now binds the drive.
process.stdout.write('ready\n')
const watched = JSON.parse(process.argv[2] ?? '') as Watched
process.exitCode = await watchBinding(watched, process.stdin.setEncoding('utf8') as AsyncIterable<string>)
