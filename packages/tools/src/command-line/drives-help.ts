import { Command } from 'commander'
import { addDriveOptions, addQueueOptions, addWriteOptions } from './options.js'

const SECTIONS: readonly (readonly [title: string, options: readonly string[]])[] = [
  ['Which drive', ['--drive', '--image', '--sim', '--socket', '--nsid']],
  ['Simulated drives', ['--profile', '--capacity', '--seed', '--real-time']],
  ['Access to the drive', ['--transport', '--engine', '--queues', '--depth']],
  ['Verbs that write', ['--serial', '--yes', '--overwrite']],
]

const ABOUT = `
Verbs that only read Identify data, logs, features or registers have no
--engine, --queues and --depth; demo has only simulated drives. Verbs for models
take --drive, --image or --socket once for each drive of a set.

--image keeps its data in a file; --sim alone forgets them. A real drive must
be bound to user space first; while Linux's driver has it, nvme identify, smart,
log, features and regs ask that driver instead.

Real drives:
  # gpunvme list
  # gpunvme bind nvme1 -- gpunvme nvme read --drive 0b:00.0

Examples:
  $ gpunvme nvme identify --sim
  $ gpunvme nvme smart --profile 990pro
  $ gpunvme models ls --image drive.img`

/** Returns the command whose help is `gpunvme help drives`: the options that name a drive, for all verbs. */
export function drivesHelp(program: Command): Command {
  const command = new Command('gpunvme VERB').usage('[options]').copyInheritedSettings(program).helpOption(false)
  command.description('Options that name a drive. They are the same for all verbs that open one.')
  const all = new Command()
  addDriveOptions(all, 'a simulated drive whose data are in this file')
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
