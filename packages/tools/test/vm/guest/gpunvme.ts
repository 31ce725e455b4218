// The gpunvme command as a program of the guest: node gpunvme.js VERB ...
import { run } from '../../../dist/cli.js'

process.exitCode = await run(process.argv.slice(2))
