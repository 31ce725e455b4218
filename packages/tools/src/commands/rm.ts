import { removeModel } from '@gpunvme/layer-loader'
import type { Command } from 'commander'
import { withTransport, withWriter, type WriteFlags } from '../drive/with-drive.js'
import {
  addOutputOptions,
  addTransportOptions,
  addWriteOptions,
  examples,
  type TransportFlags,
} from '../command-line/options.js'
import { Output, type OutputOptions } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import type { Session } from '../program.js'
import { formatBytes, plural } from '../terminal/units.js'
import { requirePlace } from '../model/place.js'

type Flags = TransportFlags & WriteFlags & OutputOptions

export function rm(command: Command, session: Session): void {
  command
    .argument('<model>', 'name of the model, as printed by gpunvme ls')
    .action((model: string, flags: Flags) => run(model, flags, new Output(flags, session.io), session.signal))
  addTransportOptions(command, 'drive image made by pack')
  addWriteOptions(command)
  addOutputOptions(command)
  examples(command, ['gpunvme rm draft --image big.img', 'gpunvme rm chat --image big.img --json'])
}

async function run(model: string, flags: Flags, output: Output, signal: AbortSignal): Promise<void> {
  const { name: place } = await requirePlace(flags, 'rm', model)
  const receipt = await withTransport(flags, 'write', output, (opened) => {
    signal.throwIfAborted()
    return withWriter(opened, flags, output, ({ namespace }) => removeModel(namespace, model, { signal }), signal)
  })
  const { name, fingerprint, freedBytes, models, generation } = receipt
  output.print(
    `Removed "${printable(name)}" from ${printable(place)}: ${formatBytes(freedBytes)} free again`,
    `  fingerprint  ${fingerprint}`,
    `  left         ${plural(models.length, 'model')}${models.map((each) => ` "${printable(each)}"`).join('')}`,
  )
  output.note('Its bytes stay until something else is written there: this is no erasure.')
  output.object('gpunvme.rm/1', { name, fingerprint, generation, freedBytes, models, place })
}
