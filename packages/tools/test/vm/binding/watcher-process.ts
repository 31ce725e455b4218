// Next to the command, which looks for it there. The bundler would omit the package's file, which exports nothing.
import { watchOver } from '../../../dist/binding/watcher.js'

process.stdout.write('ready\n')
process.exitCode = await watchOver(
  JSON.parse(process.argv[2] ?? '') as Parameters<typeof watchOver>[0],
  process.stdin.setEncoding('utf8') as AsyncIterable<string>,
)
