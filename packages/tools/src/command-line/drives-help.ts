import { Command } from 'commander'
import { addDriveOptions, addQueueOptions } from './options.js'
import { addWriteOptions } from './write-options.js'

const SECTIONS: readonly (readonly [title: string, options: readonly string[]])[] = [
  ['Which drive', ['--drive', '--image', '--sim', '--socket', '--nsid']],
  ['Simulated drives', ['--profile', '--capacity', '--seed', '--real-time']],
  ['Access to the drive', ['--transport', '--engine', '--queues', '--depth']],
  ['Verbs that write', ['--serial', '--yes', '--overwrite']],
]

const ABOUT = `
Verbs that only read Identify data, logs, features or registers do not accept
--engine, --queues or --depth. demo uses simulated drives only. Model verbs
accept --drive, --image or --socket once per drive of a set.

--image keeps the simulated drive's data in a file; with --sim alone they are
lost at exit. A real drive must be bound to user space first. While Linux's nvme
driver is bound, nvme identify, smart, log, features and regs query the drive
through it.

Real drives:
  # gpunvme list
  # gpunvme bind nvme1 -- gpunvme nvme read --drive 0b:00.0

Examples:
  $ gpunvme nvme identify --sim
  $ gpunvme nvme smart --profile 990pro
  $ gpunvme models ls --image drive.img`

/** Returns the command whose help is `gpunvme help drives`: the options that select a drive, for all verbs. */
export function drivesHelp(program: Command): Command {
  const command = new Command('gpunvme VERB').usage('[options]').copyInheritedSettings(program).helpOption(false)
  command.description('Options that select a drive. They are the same for all verbs that open one.')
  const all = new Command()
  addDriveOptions(all, "file with the simulated drive's data")
  addQueueOptions(all)
  addWriteOptions(all)
  for (const [title, names] of SECTIONS) {
    for (const name of names) {
      const option = all.options.find(({ long }) => long === name)!
      command.addOption(option.hideHelp(false).helpGroup(`${title}:`))
    }
  }
  command.addHelpText('after', ABOUT)
  return command
}
