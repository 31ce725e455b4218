// Beside the command, where it looks for it; the package's own would be left out by the bundler, as it exports nothing.
import { watchOver } from '../../../dist/binding/watcher.js'

process.stdout.write('ready\n')
process.exitCode = await watchOver(
  JSON.parse(process.argv[2] ?? '') as Parameters<typeof watchOver>[0],
  process.stdin.setEncoding('utf8') as AsyncIterable<string>,
)
