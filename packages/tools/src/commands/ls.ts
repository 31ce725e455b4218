import { openImage, type Image, type PackedModel } from '@gpunvme/layer-loader'
import { errorLines, errorText } from '../command-line/error-text.js'
import type { Invocation } from '../terminal/invocation.js'
import { verb, type Context } from '../command-line/verb.js'
import { membersOf } from '../drive/members.js'
import { addTransportOptions, allowSeveral, type TransportFlags, type WithSeveral } from '../command-line/options.js'
import type { OutputOptions } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { formatTable } from '../terminal/table.js'
import { formatBytes } from '../terminal/units.js'
import { requirePlace } from '../model/place.js'
import { setOf } from '../model/store-of.js'
import { withStore } from '../model/with-store.js'

type Flags = WithSeveral<TransportFlags> & OutputOptions

export const ls = verb({
  options(command) {
    addTransportOptions(command, 'drive image made by pack')
    allowSeveral(command)
  },
  needs: 'reader',
  examples: [
    'gpunvme models ls --image drive.img',
    'gpunvme models ls --image drive.img --json',
    'gpunvme models ls --image one.img --image two.img --json',
  ],
  run,
})

async function run(flags: Flags, { output, signal }: Context): Promise<void> {
  const drives = await membersOf(flags)
  const { name: place } = await requirePlace(drives, 'models ls')
  const [image, set] = await withStore(
    drives,
    output,
    signal,
    async (store) => [await openImage(store, { signal }), setOf(store)] as const,
  )
  output.print(describe(place, image))
  for (const problem of image.problems) output.error('', errorLines(errorText(problem, output.invocation)))
  output.driveObject('gpunvme.ls/1', { ...summary(place, image, output.invocation), ...set })
}

function describe(place: string, image: Image): string[] {
  const { models, freeBytes, holes } = image
  const rows = models.map((model) => {
    const { tensors, tensorBytes } = countsOf(model)
    const { name, layers, fingerprint } = model
    return [printable(name), String(layers.length), String(tensors), formatBytes(tensorBytes), fingerprint.slice(0, 12)]
  })
  const table = formatTable(
    [
      { title: 'MODEL' },
      { title: 'LAYERS', align: 'right' },
      { title: 'TENSORS', align: 'right' },
      { title: 'BYTES', align: 'right' },
      { title: 'FINGERPRINT' },
    ],
    rows,
  )
  const largest = formatBytes(largestOf(image))
  const room = holes.length > 1 ? `${formatBytes(freeBytes)}, largest free run ${largest}` : formatBytes(freeBytes)
  return [...(rows.length === 0 ? [`${printable(place)} has no models`] : table), `Free: ${room}`]
}

function summary(place: string, image: Image, invocation: Invocation) {
  const { models, freeBytes, superblock, problems } = image
  return {
    place,
    generation: superblock.generation,
    models: models.map((model) => {
      const { name, fingerprint, layers, manifest } = model
      return { name, fingerprint, layers: layers.length, ...countsOf(model), source: manifest.source }
    }),
    freeBytes,
    largestHoleBytes: largestOf(image),
    problems: problems.map((problem) => ({ code: problem.code, ...errorText(problem, invocation) })),
  }
}

function countsOf({ manifest: { layers } }: PackedModel): { tensors: number; tensorBytes: number } {
  const tensors = layers.flatMap((layer) => layer.tensors)
  return { tensors: tensors.length, tensorBytes: tensors.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0) }
}

function largestOf({ holes }: Image): number {
  return holes.reduce((max, { lengthBytes }) => Math.max(max, lengthBytes), 0)
}
