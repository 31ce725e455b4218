import { openImage } from '@gpunvme/layer-loader'
import {
  BudgetInfeasibleError,
  expertLayers,
  fitLayers,
  fitLayerSizes,
  layerSizes,
  measureCost,
  planExperts,
  planResidence,
  type ExpertLayer,
  type ExpertPlan,
  type FitOptions,
  type LayerSize,
  type ResidenceOptions,
  type ResidencePlan,
} from '@gpunvme/layer-loader/residence'
import { openModelFile } from '@gpunvme/layer-loader/formats'
import { cudaStatus } from '@gpunvme/cuda-native'
import { costModel } from '@gpunvme/nvme-sim'
import type { Link } from '@gpunvme/nvme-spec/pcie'
import type { CostModel } from '@gpunvme/nvme-spec/transport'
import { InvalidArgumentError, Option } from 'commander'
import {
  addDriveOptions,
  addQueueOptions,
  allowSeveral,
  size,
  whole,
  type WithSeveral,
  type TransportFlags,
} from '../command-line/options.js'
import { UsageError } from '../command-line/tools-error.js'
import { verb, type Context } from '../command-line/verb.js'
import { addressOf } from '../drive/find-drive.js'
import { DEFAULT_PROFILE, requireProfile } from '../drive/sim-transport.js'
import { membersOf, type Member } from '../drive/members.js'
import { readMachine } from '../machine/index.js'
import { measureCheckRate } from '../model/check-rate.js'
import { describeExpertPlan, expertTotals } from '../model/expert-report.js'
import { expertsUsedOf, expertsUsedOfPacked, type ExpertsUsed } from '../model/experts-used.js'
import { copyCostOf, defaultRamBytes, costFromOf, machineDefaults } from '../model/machine-cost.js'
import { addNamingOption, refuseNamingOfPacked, type NamingFlags } from '../model/naming.js'
import { placeOf } from '../model/place.js'
import { describePlan } from '../model/residence-report.js'
import { findModel } from '../model/same-catalogue.js'
import { withStore } from '../model/with-store.js'
import { hostChecksummer } from '../rig/gpu.js'
import { printable } from '../terminal/printable.js'
import { formatBytes, formatRate, plural } from '../terminal/units.js'
import { totalmem } from 'node:os'
import type { Output, OutputOptions } from '../terminal/output.js'

interface Flags extends WithSeveral<TransportFlags>, NamingFlags, OutputOptions {
  readonly vram?: number
  readonly ram: number
  readonly tier: 1 | 2
  readonly gpuLink?: Link
  readonly measure?: boolean
  readonly checkRate?: number
  readonly expertsUsed?: number
  readonly hitRate?: number
}

/** Data for planning. */
interface Planned {
  readonly name: string
  /** Returns the layers, or their parts if they do not fit. */
  readonly layers: (options: FitOptions) => readonly LayerSize[]
  /** The layers with their experts apart. */
  readonly expertLayers: readonly ExpertLayer[]
  readonly used: ExpertsUsed | undefined
}

const NOTES = `
Nothing is written or loaded. GPU memory and link default to this machine's.
Times come from a preset (--profile), parts of which are guesses; with --drive,
from the preset of the drive's model on its link, or from the link alone; with
--measure, from reads. They cover one pass over all layers, which a dense model
needs per token, and assume that the next layers are read meanwhile. Tier 1
reads into host memory and copies to the GPU; in tier 2 the drive writes to GPU
memory, if the machine can: see gpunvme doctor.

A token of a mixture of experts needs the dense part of each layer and some of
its experts, which are read after the router has chosen them. --hit-rate is the
fraction of them that a cache in the remaining memory already has.`

export const plan = verb({
  options(command) {
    command
      .argument('[model]', 'a .gguf or .safetensors file, or the name of a model packed on the drive')
      .addOption(size('--vram <size>', "GPU memory to use, such as 20GiB (default: 75 % of the GPU's)"))
      .addOption(
        size('--ram <size>', 'host memory to use').default(defaultRamBytes(totalmem()), "half of this machine's"),
      )
      .addOption(
        new Option('--tier <n>', '1: through host memory; 2: written to GPU memory by the drive')
          .choices(['1', '2'])
          .default(1)
          .argParser((text) => (text === '2' ? 2 : text === '1' ? 1 : refuseTier())),
      )
      .option('--gpu-link <link>', "the GPU's PCIe link: 4x16 is Gen4 x16 (default: this machine's)", gpuLink)
      .option('--measure', 'measure reads of the drive instead of using a preset')
      .addOption(size('--check-rate <size>', 'bytes verified per second: 2.5GB (default: measured on this CPU)', 1))
      .addOption(
        whole(
          '--experts-used <n>',
          'experts of a layer that a token uses (default: from the header or config.json)',
          1,
          65_536,
        ),
      )
      .addOption(
        new Option(
          '--hit-rate <rate>',
          'hit rate of the expert cache: 0.6 (default: 0; 1 if it holds all experts)',
        ).argParser(fraction),
      )
    addNamingOption(command)
    addDriveOptions(command, 'drive image made by pack')
    allowSeveral(command)
    addQueueOptions(command)
  },
  about: NOTES,
  examples: [
    'gpunvme plan model.gguf --vram 8MiB',
    'gpunvme plan model.gguf --vram 8MiB --ram 4MiB --gpu-link 4x16',
    'gpunvme plan --image drive.img --vram 8MiB --tier 2 --measure --json',
  ],
  run,
})

async function run(given: string | undefined, flags: Flags, { output, signal }: Context): Promise<void> {
  const drives = await membersOf(flags)
  if (given === undefined && placeOf(drives) === undefined)
    throw new UsageError('plan requires a MODEL, or a drive with one', { next: { command: ['help', 'plan'] } })
  const { vramBytes, gpuLink, drive } = await defaultsOf(flags)
  // Errors of the model come before a missing --vram; only then are reads measured.
  const measure = flags.measure === true && vramBytes !== undefined
  const { planned, read } = await look(given, { ...flags, measure }, drives, output, signal)
  if (vramBytes === undefined) throw new NoGpuMemoryError()
  const { ram: ramBytes, tier } = flags
  const checkBytesPerSecond = flags.checkRate ?? (await measureCheckRate(hostChecksummer()))
  const options: ResidenceOptions = {
    budget: { vramBytes, ramBytes },
    tier,
    cost: { ...(read ?? drive.cost), ...(gpuLink && copyCostOf(gpuLink)) },
    costFrom: measure ? 'measured' : drive.from,
    checkNs: (lengthBytes) => (lengthBytes / checkBytesPerSecond) * 1e9,
  }
  const experts = expertPlan(planned, options, flags)
  const plan = layerPlan(planned, options, experts)
  const isMeasured = flags.checkRate === undefined
  output.print([
    ...(plan instanceof BudgetInfeasibleError
      ? describeInfeasible(planned.name, plan)
      : describePlan(planned.name, plan, { gpuLink })),
    ...tokenLines(planned, experts),
    '',
    ...(flags.vram === undefined ? [`GPU memory: ${formatBytes(vramBytes)} (75 % of GPU 0's)`] : []),
    `Verification: ${formatRate(checkBytesPerSecond, 1e9)}${isMeasured ? ', measured on this CPU' : ''}`,
  ])
  output.driveObject('gpunvme.plan/1', {
    model: planned.name,
    ...(plan instanceof BudgetInfeasibleError ? {} : summary(plan)),
    ...expertSummary(planned, experts),
    gpuLink,
    checkBytesPerSecond,
    ...(drives.length > 0 && { drive: {} }),
  })
}

/**
 * Returns the plan for experts; undefined for a dense model, or if the number of experts that a token uses is unknown.
 */
function expertPlan({ expertLayers, used }: Planned, options: ResidenceOptions, flags: Flags): ExpertPlan | undefined {
  const counts = expertLayers.flatMap(({ experts }) => (experts > 0 ? [experts] : []))
  const fewest = counts.reduce((min, count) => Math.min(min, count), Infinity)
  if (counts.length === 0) {
    const given =
      flags.expertsUsed !== undefined ? '--experts-used' : flags.hitRate !== undefined ? '--hit-rate' : undefined
    if (given !== undefined) throw new UsageError(`${given} requires a model with experts: this one has none`)
    return undefined
  }
  if (used === undefined) return undefined
  if (used.count > fewest)
    throw new UsageError(`A layer has ${plural(fewest, 'expert')}: a token cannot use ${used.count}`, {
      next: flags.expertsUsed === undefined ? 'set --experts-used' : `use --experts-used ${fewest} or less`,
    })
  const { hitRate } = flags
  const planWith = (rate: number) => planExperts(expertLayers, { ...options, expertsUsed: used.count, hitRate: rate })
  const plan = planWith(0)
  if (hitRate !== undefined) {
    if (hitRate > 0 && plan.cache.experts === 0)
      throw new UsageError(`No expert fits into a cache in this budget, so the hit rate cannot be ${hitRate}`, {
        next: 'raise --vram or --ram, or omit --hit-rate',
      })
    return planWith(hitRate)
  }
  // A cache that holds all experts misses each only once.
  return plan.cache.experts === plan.experts ? planWith(1) : plan
}

/** Returns the plan for layers or their parts, or the error of a budget that is enough for single experts only. */
function layerPlan(
  { layers }: Planned,
  options: ResidenceOptions,
  experts: ExpertPlan | undefined,
): ResidencePlan | BudgetInfeasibleError {
  try {
    return planResidence(layers(options), options)
  } catch (error) {
    if (error instanceof BudgetInfeasibleError && experts !== undefined) return error
    throw error
  }
}

function describeInfeasible(name: string, { minimum }: BudgetInfeasibleError): string[] {
  const { vramBytes, ramBytes } = minimum
  return [
    `Plan for "${printable(name)}": single experts fit into this budget; layers do not, even if they are split between tensors.`,
    `Layers need at least ${formatBytes(vramBytes)} of GPU memory and ${formatBytes(ramBytes)} of host memory.`,
  ]
}

function tokenLines({ expertLayers, used }: Planned, plan: ExpertPlan | undefined): string[] {
  if (expertLayers.every(({ experts }) => experts === 0)) return []
  return [
    '',
    'A pass reads all experts of every layer; a token needs fewer.',
    ...(plan === undefined
      ? ['Experts that a token uses: unknown; set --experts-used']
      : describeExpertPlan(plan, expertLayers, used!)),
  ]
}

function expertSummary({ expertLayers, used }: Planned, plan: ExpertPlan | undefined) {
  if (plan === undefined) return {}
  const { dense, expertsUsed, hitRate, slots, cache, readBytes, predicted } = plan
  const { vram, ram, readBytes: denseReadBytes } = dense
  const place = { vramBytes: vram.layerBytes, ramBytes: ram.layerBytes, driveBytes: denseReadBytes }
  const totals = expertTotals(expertLayers, used)
  return {
    experts: { ...totals, expertsUsed, from: used!.from, hitRate, dense: place, slots, cache, readBytes, predicted },
  }
}

/** Returns the layers from the file or drive, and the measured cost of reads if requested. */
async function look(
  given: string | undefined,
  flags: Flags,
  drives: readonly Member<Flags>[],
  output: Output,
  signal: AbortSignal,
): Promise<{ planned: Planned; read: CostModel | undefined }> {
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
      const used = await expertsUsedOfPacked(model, flags.expertsUsed, signal)
      const layers = (options: FitOptions) => layerSizes(fitLayers(model, options))
      return { name: model.name, layers, expertLayers: expertLayers(model.manifest), used }
    }
  })
}

async function fromFile(path: string, { naming, expertsUsed }: Flags, signal: AbortSignal): Promise<Planned> {
  await using model = await openModelFile(path, { naming, signal })
  const layers = (options: FitOptions) => fitLayerSizes(model, options)
  const used = await expertsUsedOf(model, path, expertsUsed)
  return { name: model.name ?? path, layers, expertLayers: expertLayers(model), used }
}

/** Returns the memory, link and drive to plan for: by options, or else those of this machine. */
async function defaultsOf(flags: Flags) {
  const { profile, drive: names = [], vram, gpuLink } = flags
  const driveAddress = profile === undefined && names.length === 1 ? addressOf(names[0]!, '/') : undefined
  const isGiven = vram !== undefined && gpuLink !== undefined && driveAddress === undefined
  const own = isGiven ? undefined : machineDefaults(await readMachine('/'), cudaStatus(), driveAddress)
  return {
    vramBytes: vram ?? own?.vramBytes,
    gpuLink: gpuLink ?? own?.gpuLink,
    drive:
      own?.drive === undefined
        ? { cost: costModel(requireProfile(profile)), from: `preset ${profile ?? DEFAULT_PROFILE}` as const }
        : { cost: own.drive.cost, from: costFromOf(own.drive) },
  }
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

function gpuLink(text: string): Link {
  const [, gen, width] = /^([1-5])x(1|2|4|8|16)$/.exec(text) ?? []
  if (gen === undefined)
    throw new InvalidArgumentError("Expected a generation and a width, for example '4x16' or '3x8'.")
  return { gen: Number(gen) as Link['gen'], width: Number(width), mps: 256 }
}

function fraction(text: string): number {
  const value = text.trim() === '' ? NaN : Number(text)
  if (!(value >= 0 && value <= 1)) throw new InvalidArgumentError('Expected a number from 0 to 1.')
  return value
}

function refuseTier(): never {
  throw new InvalidArgumentError('Allowed choices are 1, 2.')
}

/** Error of a plan without --vram on a machine whose GPU memory is unknown. */
class NoGpuMemoryError extends UsageError {
  constructor() {
    super('plan requires --vram: CUDA lists no GPU here', { next: 'set --vram to the GPU memory to plan for' })
  }
}
