// Next to the command, which looks for it there. The bundler would omit the package's file, which exports nothing.
import { watchBinding } from '../../../dist/binding/watcher.js'

process.stdout.write('ready\n')
process.exitCode = await watchBinding(
  JSON.parse(process.argv[2] ?? '') as Parameters<typeof watchBinding>[0],
  process.stdin.setEncoding('utf8') as AsyncIterable<string>,
)
