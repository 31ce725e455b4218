import {
  layerSizes,
  measureCost,
  openImage,
  planResidence,
  type LayerSize,
  type ResidencePlan,
} from '@gpunvme/layer-loader'
import { isMtpLayer, openModelFile } from '@gpunvme/layer-loader/formats'
import { costModel, type ProfileName } from '@gpunvme/nvme-sim'
import { payloadLimit, type Link } from '@gpunvme/nvme-spec/pcie'
import type { CostModel } from '@gpunvme/nvme-spec/transport'
import { InvalidArgumentError, Option, type Command } from 'commander'
import {
  addDriveOptions,
  addOutputOptions,
  addQueueOptions,
  allowSeveral,
  examples,
  size,
  type WithSeveral,
  type TransportFlags,
} from '../command-line/options.js'
import { UsageError } from '../command-line/usage-error.js'
import { DEFAULT_PROFILE, requireProfile } from '../drive/sim-transport.js'
import { membersOf, type Member } from '../drive/members.js'
import { addNamingOption, refuseNamingOfPacked, type NamingFlags } from '../model/naming.js'
import { placeOf } from '../model/place.js'
import { describePlan } from '../model/residence-report.js'
import { findModel } from '../model/same-catalogue.js'
import { withStore } from '../model/with-store.js'
import { totalmem } from 'node:os'
import type { Session } from '../program.js'
import { Output, type OutputOptions } from '../terminal/output.js'

type GpuLink = Pick<Link, 'gen' | 'width'>

interface Flags extends WithSeveral<TransportFlags>, NamingFlags, OutputOptions {
  readonly vram: number
  readonly ram: number
  readonly tier: 1 | 2
  readonly gpuLink?: GpuLink
  readonly measure?: boolean
}

/** Data for planning. */
interface Planned {
  readonly name: string
  readonly layers: readonly LayerSize[]
}

const NOTES = `
Nothing is written or loaded. Times come from the model of a preset (--profile),
parts of which are guesses, or from reads of the drive (--measure). They are for
one pass over all layers, which a dense model needs per token, with the next
layers read meanwhile. Tier 1 reads into host memory and copies to the GPU; in
tier 2 the drive writes to GPU memory, if the machine can: see gpunvme doctor.`

export function plan(command: Command, session: Session): void {
  command
    .argument('[model]', 'a .gguf or .safetensors file, or the name of a model packed on the drive')
    .addOption(size('--vram <size>', 'GPU memory to use: 24GiB').makeOptionMandatory())
    .addOption(size('--ram <size>', 'host memory to use').default(totalmem() / 2, "half of this machine's"))
    .addOption(
      new Option('--tier <n>', '1: through host memory; 2: written to GPU memory by the drive')
        .choices(['1', '2'])
        .default(1)
        .argParser((text) => (text === '2' ? 2 : text === '1' ? 1 : refuseTier())),
    )
    .option('--gpu-link <link>', "the GPU's PCIe link: 4x16 is Gen4 x16 (default: no limit)", gpuLink)
    .option('--measure', 'measure reads of the drive instead of using a preset')
    .action((model: string | undefined, flags: Flags) =>
      run(model, flags, new Output(flags, session.io), session.signal),
    )
  addNamingOption(command)
  addDriveOptions(command, 'drive image made by pack')
  allowSeveral(command)
  addQueueOptions(command)
  addOutputOptions(command)
  command.addHelpText('after', NOTES)
  examples(command, [
    'gpunvme plan model.gguf --vram 8MiB',
    'gpunvme plan model.gguf --vram 8MiB --ram 4MiB --gpu-link 4x16',
    'gpunvme plan --image drive.img --vram 8MiB --tier 2 --measure --json',
  ])
}

async function run(given: string | undefined, flags: Flags, output: Output, signal: AbortSignal): Promise<void> {
  const drives = await membersOf(flags)
  if (given === undefined && placeOf(drives) === undefined)
    throw new UsageError('plan requires a MODEL, or a drive with one', { next: { command: ['help', 'plan'] } })
  const { planned, read } = await look(given, flags, drives, output, signal)
  const { vram: vramBytes, ram: ramBytes, tier, measure = false } = flags
  const profile = flags.profile ?? DEFAULT_PROFILE
  const plan = planResidence(planned.layers, {
    budget: { vramBytes, ramBytes },
    tier,
    cost: { ...(read ?? costModel(profile as ProfileName)), ...copyCost(flags.gpuLink) },
    costFrom: measure ? 'measured' : `preset ${profile}`,
  })
  output.print(describePlan(planned.name, plan, { gpuLink: flags.gpuLink }))
  output.object('gpunvme.plan/1', { model: planned.name, ...summary(plan), gpuLink: flags.gpuLink })
}

/** Returns the layers from the file or drive, and the measured cost of reads if requested. */
async function look(
  given: string | undefined,
  flags: Flags,
  drives: readonly Member<Flags>[],
  output: Output,
  signal: AbortSignal,
): Promise<{ planned: Planned; read: CostModel | undefined }> {
  requireProfile(flags.profile)
  const isPacked = placeOf(drives) !== undefined
  if (isPacked) refuseNamingOfPacked(flags)
  if (!isPacked && !flags.measure) return { planned: await fromFile(given!, flags, signal), read: undefined }
  return withStore(drives, output, signal, async (store, { time }) => {
    const planned = isPacked ? await fromImage() : await fromFile(given!, flags, signal)
    if (!flags.measure) return { planned, read: undefined }
    output.note(`Measuring reads of the drive (${time} time)`)
    return { planned, read: await measureCost(store, { signal }) }

    async function fromImage(): Promise<Planned> {
      const image = await openImage(store, { signal })
      const model = await findModel(image, given, { signal, onFile: () => Promise.resolve() })
      return { name: model.name, layers: layerSizes(model) }
    }
  })
}

async function fromFile(path: string, { naming }: Flags, signal: AbortSignal): Promise<Planned> {
  await using model = await openModelFile(path, { naming, signal })
  return { name: model.name ?? path, layers: model.layers.filter(({ name }) => !isMtpLayer(name)) }
}

/** Assumes copies at the limit of the GPU's link, the best case. */
function copyCost(link: GpuLink | undefined): Pick<CostModel, 'copyNs'> {
  if (link === undefined) return {}
  const bytesPerNs = payloadLimit({ ...link, mps: 256 }) / 1e9
  return { copyNs: (lengthBytes) => lengthBytes / bytesPerNs }
}

function summary({
  tier,
  layers,
  slots,
  vram,
  ram,
  readBytes,
  copiedBytes,
  predicted,
  costFrom,
  options,
}: ResidencePlan) {
  return { tier, budget: options.budget, layers, slots, vram, ram, readBytes, copiedBytes, predicted, costFrom }
}

function gpuLink(text: string): GpuLink {
  const [, gen, width] = /^([1-5])x(1|2|4|8|16)$/.exec(text) ?? []
  if (gen === undefined)
    throw new InvalidArgumentError("Expected a generation and a width, for example '4x16' or '3x8'.")
  return { gen: Number(gen) as Link['gen'], width: Number(width) }
}

function refuseTier(): never {
  throw new InvalidArgumentError('Allowed choices are 1, 2.')
}
