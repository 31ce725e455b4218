import { Registers } from '@gpunvme/host-driver'
import { CAP, registersOf } from '@gpunvme/nvme-spec'
import type { Command } from 'commander'
import { withReader, withTransport } from '../drive/with-drive.js'
import { addOutputOptions, addTransportOptions, examples, type TransportFlags } from '../command-line/options.js'
import { columnsOf, Output, type OutputOptions } from '../terminal/output.js'
import type { Session } from '../program.js'
import { wrap } from '../terminal/table.js'

interface Flags extends TransportFlags, OutputOptions {
  readonly asFound?: boolean
}

export function regs(command: Command, { signal }: Session): void {
  command
    .option('--as-found', 'touch nothing: show them without bringing the controller up')
    .action((flags: Flags) => run(flags, new Output(flags), signal))
  addTransportOptions(command, 'a drive image; only its size matters here')
  addOutputOptions(command)
  examples(command, ['gpunvme regs', 'gpunvme regs --as-found --json'])
}

async function run(flags: Flags, output: Output, signal: AbortSignal): Promise<void> {
  const read = await withTransport(flags, 'read', async (opened) => {
    signal.throwIfAborted()
    if (flags.asFound) return snapshot(new Registers(opened.transport.bar))
    return withReader(opened, flags, ({ controller }) => Promise.resolve(snapshot(controller.registers)))
  })
  output.note(flags.asFound ? 'Registers as found.' : 'Registers of the controller, brought up by the driver.')
  const columns = columnsOf(process.stdout)
  output.print(...read.flatMap(({ offset, text }) => wrap(`${offset}  ${text}`, columns, ' '.repeat(8))))
  output.object('gpunvme.regs/1', {
    registers: read.map(({ name, offset, value, fields }) => ({ name, offset, value, fields })),
  })
}

function snapshot(bank: Pick<Registers, 'read' | 'format'>) {
  // What CAP rules out is reserved there, and says nothing.
  const registers = registersOf(bank.read(CAP))
  const digits = registers.at(-1)!.offset.toString(16).length
  return registers.map((register) => {
    const raw = bank.read(register)
    return {
      name: register.name,
      offset: `0x${register.offset.toString(16).padStart(digits, '0')}`,
      value: `0x${raw.toString(16).padStart(register.widthBits / 4, '0')}`,
      fields: register.decode(raw),
      text: register.format(raw),
    }
  })
}
