import { expertLayers, type ExpertLayer } from '@gpunvme/layer-loader/residence'
import { isMtpLayer, openModelFile, type Layer, type Model, type Tensor } from '@gpunvme/layer-loader/formats'
import type { Invocation } from '../terminal/invocation.js'
import { typed, type CommandStep } from '../command-line/next-step.js'
import { whole } from '../command-line/options.js'
import { verb, type Context } from '../command-line/verb.js'
import type { OutputOptions } from '../terminal/output.js'
import { printable, printableLines } from '../terminal/printable.js'
import { formatTable } from '../terminal/table.js'
import { formatBytes, plural } from '../terminal/units.js'
import { describeExperts, expertTotals } from '../model/expert-report.js'
import { expertsUsedOf, type ExpertsUsed } from '../model/experts-used.js'
import { addNamingOption, type NamingFlags } from '../model/naming.js'

/** Alignment for DMA by an NVMe controller: whole pages, which are multiples of all block sizes. */
const PAGE_BYTES = 4096

interface Flags extends NamingFlags, OutputOptions {
  readonly expertsUsed?: number
}

/** Experts of a model. */
interface Experts {
  readonly layers: readonly ExpertLayer[]
  readonly used: ExpertsUsed | undefined
}

export const inspect = verb({
  options(command) {
    command
      .argument('<model>', 'a .gguf or .safetensors file; for a split model, any part or the index')
      .addOption(
        whole(
          '--experts-used <n>',
          'experts of a layer that a token uses (default: from the header or config.json)',
          1,
          65_536,
        ),
      )
    addNamingOption(command)
  },
  examples: [
    'gpunvme inspect model.gguf',
    'gpunvme inspect model.gguf --naming gguf',
    'gpunvme inspect model.gguf --json',
  ],
  run,
})

async function run(path: string, { naming, expertsUsed }: Flags, { output, signal }: Context): Promise<void> {
  await using model = await openModelFile(path, { naming, headerOnly: true, signal })
  const experts = { layers: expertLayers(model), used: await expertsUsedOf(model, path, expertsUsed) }
  output.print(describe(path, model, experts, output.invocation))
  const fileBytes = model.parts.reduce((total, { source }) => total + source.sizeBytes, 0)
  output.object('gpunvme.inspect/1', { file: path, fileBytes, ...catalogue(model, experts) })
}

function describe(path: string, model: Model, experts: Experts, invocation: Invocation): string[] {
  const { format, formatVersion, architecture, name, tensors, layers, parts } = model
  const headers = formatBytes(headerBytes(model))
  const after = parts.length === 1 ? `a ${headers} header` : `${headers} of headers in ${parts.length} files`
  const facts = [
    format === 'gguf' ? `GGUF v${formatVersion}` : 'safetensors',
    ...(architecture === undefined ? [] : [`architecture ${printable(architecture)}`]),
    ...(name === undefined ? [] : [`named "${printable(name)}"`]),
  ]
  return [
    `${printable(path)}: ${facts.join(', ')}`,
    `${plural(tensors.length, 'tensor')} in ${plural(layers.length, 'layer')}, ${formatBytes(sum(tensors))} of data after ${after}`,
    '',
    ...formatTable(
      [{ title: 'DTYPE' }, { title: 'TENSORS', align: 'right' }, { title: 'BYTES', align: 'right' }],
      byDtype(model).map(({ dtype, tensors, lengthBytes }) => [
        printable(dtype),
        String(tensors),
        formatBytes(lengthBytes),
      ]),
    ),
    '',
    ...formatTable(
      [{ title: 'LAYER' }, { title: 'TENSORS', align: 'right' }, { title: 'BYTES', align: 'right' }],
      layers.map((layer) => [printable(layer.name), String(layer.tensors.length), formatBytes(layer.lengthBytes)]),
    ),
    '',
    ...describeExperts(experts.layers, experts.used),
    ...outsidePasses(layers),
    ...unknownTypes(tensors),
    ...withoutData(model),
    ...alignment(tensors, { command: ['pack', path, '--image', 'FILE'] }, invocation),
  ]
}

function byDtype({ tensors }: Model): { dtype: string; tensors: number; lengthBytes: number }[] {
  const totals = new Map<string, { dtype: string; tensors: number; lengthBytes: number }>()
  for (const { dtype, lengthBytes } of tensors) {
    const total = totals.get(dtype) ?? { dtype, tensors: 0, lengthBytes: 0 }
    total.tensors++
    total.lengthBytes += lengthBytes
    totals.set(dtype, total)
  }
  return [...totals.values()].sort((a, b) => b.lengthBytes - a.lengthBytes)
}

function outsidePasses(layers: readonly Layer[]): string[] {
  const names = layers.filter(({ name }) => isMtpLayer(name)).map(({ name }) => printable(name))
  return names.length === 0 ? [] : [`Multi-token prediction, not part of a pass: ${names.join(', ')}`]
}

function withoutData({ parts }: Model): string[] {
  const names = parts.filter(({ isHeaderOnly }) => isHeaderOnly).map(({ source }) => printable(source.name))
  return names.length === 0 ? [] : [`Header only, without tensor data: ${names.join(', ')}`]
}

function unknownTypes(tensors: readonly Tensor[]): string[] {
  const unknown = tensors.filter(({ opaque }) => opaque)
  if (unknown.length === 0) return []
  const shown = unknown.slice(0, 10).map(({ name, dtype }) => `  ${printable(name)}: ${printable(dtype)}`)
  const more = unknown.length > shown.length ? [`  and ${unknown.length - shown.length} more`] : []
  return [
    `${plural(unknown.length, 'tensor')} of unknown type, loaded as bytes without a check of their length:`,
    ...shown,
    ...more,
  ]
}

function misaligned(tensors: readonly Tensor[]): Tensor[] {
  return tensors.filter(({ offsetBytes }) => offsetBytes % PAGE_BYTES !== 0)
}

function alignment(tensors: readonly Tensor[], pack: CommandStep, invocation: Invocation): string[] {
  const count = misaligned(tensors).length
  return count === 0
    ? ['Alignment: every tensor starts on a 4 KiB boundary']
    : [
        `Alignment: ${count} of ${tensors.length} tensors do not start on a 4 KiB boundary, as DMA requires; to align them:`,
        ...printableLines(`  ${typed(pack, invocation)}`),
      ]
}

function catalogue(model: Model, { layers: sizes, used }: Experts) {
  const { format, formatVersion, name, architecture, metadata, parts, tensors, layers } = model
  const sizesOf = new Map(sizes.map((layer) => [layer.name, layer]))
  return {
    format,
    formatVersion,
    name,
    architecture,
    headerBytes: headerBytes(model),
    parts: parts.map(({ source, headerBytes, isHeaderOnly = false }) => {
      return { file: source.name, fileBytes: source.sizeBytes, headerBytes, isHeaderOnly }
    }),
    dataBytes: sum(tensors),
    dtypes: byDtype(model),
    layers: layers.map((layer: Layer) => {
      const inPass = !isMtpLayer(layer.name)
      return {
        ...layer,
        inPass,
        tensors: layer.tensors.map((tensor) => tensor.name),
        ...expertsOf(sizesOf.get(layer.name)),
      }
    }),
    ...(sizes.some(({ experts }) => experts > 0) && {
      experts: { ...expertTotals(sizes, used), ...(used && { expertsUsed: used.count, from: used.from }) },
    }),
    tensors,
    unknownTypes: tensors.filter(({ opaque }) => opaque).map((tensor) => tensor.name),
    misaligned4KiB: misaligned(tensors).length,
    metadata,
  }
}

/** Members of a layer with experts. */
function expertsOf(layer: ExpertLayer | undefined) {
  if (layer === undefined || layer.experts === 0) return {}
  const { experts, expertBytes, denseBytes } = layer
  return { experts, expertBytes, denseBytes }
}

function headerBytes({ parts }: Model): number {
  return parts.reduce((total, part) => total + part.headerBytes, 0)
}

function sum(tensors: readonly Tensor[]): number {
  return tensors.reduce((total, { lengthBytes }) => total + lengthBytes, 0)
}
