import { removeModel } from '@gpunvme/layer-loader/image'
import { verb, type Context } from '../command-line/verb.js'
import { addWriteOptions } from '../command-line/write-options.js'
import { membersOf } from '../drive/members.js'
import type { WriteFlags } from '../drive/with-drive.js'
import { addTransportOptions, allowSeveral, type WithSeveral, type TransportFlags } from '../command-line/options.js'
import type { OutputOptions } from '../terminal/output.js'
import { printable, typedName } from '../terminal/printable.js'
import { formatBytes, plural } from '../terminal/units.js'
import { requirePlace } from '../model/place.js'
import { withWritableNamespaces, writableStoreOf } from '../model/with-store.js'

type Flags = WithSeveral<TransportFlags & WriteFlags> & OutputOptions

export const rm = verb({
  options(command) {
    command.argument('<model>', 'name of the model, as printed by gpunvme models ls')
    addTransportOptions(command, 'drive image made by pack')
    addWriteOptions(command)
    allowSeveral(command)
  },
  needs: 'writer',
  examples: ['gpunvme models rm draft --image big.img', 'gpunvme models rm chat --image big.img --json'],
  run,
})

async function run(model: string, flags: Flags, { output, signal }: Context): Promise<void> {
  const drives = await membersOf(flags)
  const { name: place } = await requirePlace(drives, 'models rm', model)
  const receipt = await withWritableNamespaces(drives, output, signal, async (namespaces) =>
    removeModel(await writableStoreOf(namespaces, drives, signal), typedName(model), { signal }),
  )
  const { name, fingerprint, freedBytes, models, generation } = receipt
  output.print(
    `Removed "${printable(name)}" from ${printable(place)}: ${formatBytes(freedBytes)} freed`,
    `  fingerprint  ${fingerprint}`,
    `  left         ${plural(models.length, 'model')}${models.map((each) => ` "${printable(each)}"`).join('')}`,
  )
  output.note('The data remain until they are overwritten: this is not an erasure.')
  output.driveObject('gpunvme.rm/1', { name, fingerprint, generation, freedBytes, models, place })
}
