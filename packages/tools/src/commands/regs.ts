import { loadHardwareHost } from '@gpunvme/cuda-native/host'
import { Registers } from '@gpunvme/host-driver'
import { openKernelRegisters } from '../admin/kernel-registers.js'
import { readRegisters, type RegisterState } from '../admin/register-snapshot.js'
import { driveFacts, modelledTime, type AdminView } from '../admin/view.js'
import { watchRegisters } from '../admin/watch-registers.js'
import { linuxDrive, withAdminView } from '../admin/with-admin-view.js'
import { addDriveOptions, whole, type DriveFlags } from '../command-line/options.js'
import { UsageError } from '../command-line/tools-error.js'
import { verb, type Context } from '../command-line/verb.js'
import { nameLinuxDrive } from '../drive/named-drive.js'
import { withTransport } from '../drive/with-drive.js'
import type { Output, OutputOptions } from '../terminal/output.js'
import { plural } from '../terminal/units.js'

interface Flags extends DriveFlags, OutputOptions {
  readonly asFound?: boolean
  readonly watch?: boolean
  readonly interval?: number
  readonly count?: number
}

/** A drive whose registers are read, and how it was opened. */
type Seen = Omit<AdminView, 'reader'>

const DEFAULT_INTERVAL_MS = 1000

const NOTES = `
Read-only. A drive bound to user space is reset and brought up first, unless
--as-found is given. For a drive bound to Linux's nvme driver, mounted or not,
root is required, and a kernel that allows it (IO_STRICT_DEVMEM and Secure Boot
do not).
--watch prints all registers, then those whose value changed since the previous
poll; with --json one object per line. Changes between two polls are missed. The
exit code is 5 if the drive leaves the bus.`

export const regs = verb({
  options(command) {
    command
      .option('--as-found', 'do not bring the controller up first')
      .option('--watch', 'print changes until Ctrl-C or --count')
      .addOption(whole('--interval <ms>', 'polling interval (default: 1000)', 1, 3_600_000))
      .addOption(whole('--count <n>', 'number of polls', 1, 1_000_000_000))
    addDriveOptions(command, 'drive image of the simulated controller; only its size matters', false)
  },
  about: NOTES,
  examples: [
    'gpunvme nvme regs --sim',
    'gpunvme nvme regs --sim --as-found --json',
    'gpunvme nvme regs --sim --watch --interval 10 --count 3',
    'gpunvme nvme regs --sim --watch --interval 10 --count 3 --json',
  ],
  run,
})

async function run(flags: Flags, { output, signal }: Context): Promise<void> {
  if (!flags.watch && (flags.interval ?? flags.count) !== undefined) {
    throw new UsageError('--interval and --count require --watch', {
      next: { command: ['nvme', 'regs', '--watch', '--drive', 'ADDRESS'] },
    })
  }
  await withSeen(flags, output, signal, (seen) => {
    output.note(`${seen.name}, ${seen.source}.`)
    if (flags.watch) return watch(seen, flags, output, signal)
    const states = readRegisters(seen.readRegister, seen.name)
    output.print(states.map(({ offset, text }) => `${offset}  ${text}`))
    output.driveObject('gpunvme.regs/1', { drive: driveFacts(seen), registers: states.map(plain) })
    return Promise.resolve()
  })
}

/** Lends the registers of a drive bound to any driver. */
async function withSeen(
  flags: Flags,
  output: Output,
  signal: AbortSignal,
  use: (seen: Seen) => Promise<void>,
): Promise<void> {
  const drive = linuxDrive(flags)
  if (drive !== undefined) {
    const { bdf, path, linuxName } = drive
    const registers = openKernelRegisters(loadHardwareHost(), bdf, path)
    const name = linuxName === undefined ? bdf : `${bdf} (${linuxName})`
    const source = "as set by Linux's nvme driver"
    output.nameDrive(nameLinuxDrive(drive, '/'))
    return use({ by: 'linux', name, source, readRegister: registers.read }).finally(() => registers.close())
  }
  if (!flags.asFound) return withAdminView(flags, output, signal, use)
  await withTransport(flags, 'read', output, (opened) => {
    signal.throwIfAborted()
    const { bdf, name, bar } = opened.transport
    const registers = new Registers(bar)
    return use({
      by: 'driver',
      name: bdf ?? name,
      source: 'as found',
      readRegister: (register) => registers.read(register),
      ...modelledTime(opened),
    })
  })
}

async function watch(seen: Seen, flags: Flags, output: Output, signal: AbortSignal): Promise<void> {
  const looked = await watchRegisters(
    seen.readRegister,
    seen.name,
    {
      intervalMs: flags.interval ?? DEFAULT_INTERVAL_MS,
      looks: flags.count,
      signal,
      passModelledTime: seen.passModelledTime,
    },
    (states) => {
      output.print(states.map(({ offset, text }) => `${offset}  ${text}`))
      output.driveRecord('gpunvme.regs/1', { drive: driveFacts(seen), registers: states.map(plain) })
    },
    (changes) => {
      const time = new Date().toISOString()
      output.print(changes.flatMap(({ from, to }) => [time, `  was  ${from.text}`, `  now  ${to.text}`]))
      for (const { from, to } of changes) {
        const { name, offset } = to
        output.record('gpunvme.regs.change/1', {
          ...{ time, name, offset },
          from: { value: from.value, fields: from.fields },
          to: { value: to.value, fields: to.fields },
        })
      }
    },
  )
  output.note(`Looked ${plural(looked, 'time')}.`)
}

function plain({ name, offset, value, fields }: RegisterState) {
  return { name, offset, value, fields }
}
