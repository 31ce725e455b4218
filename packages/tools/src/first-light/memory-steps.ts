import { cudaStatus } from '@gpunvme/cuda-native'
import { HostEngine, type Namespace } from '@gpunvme/host-driver'
import { hasCode, openImage } from '@gpunvme/layer-loader'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import { namespaceOf } from '../drive/namespace-of.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import { runPasses } from '../loading/passes.js'
import { readStore } from '../model/store-of.js'
import type { Choice } from '../rig/choice.js'
import { openDriven } from '../rig/engine.js'
import { openTarget } from '../rig/gpu.js'
import { lendGpu } from '../rig/lent-gpu.js'
import { composeRig } from '../rig/open-rig.js'
import { findReach, type FindReach } from '../rig/reach.js'
import { reachTier } from '../rig/tier.js'
import { ToolsError } from '../command-line/tools-error.js'
import type { Output } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { formatBytes, plural } from '../terminal/units.js'
import { withNamespace } from './drive-steps.js'
import type { Secrets } from './redact.js'
import type { StepFacts } from './report.js'
import { SkippedStep } from './sequence.js'

/** Parameters of the steps `tier` and `load`. */
export interface MemorySettings {
  readonly gpu: number
  readonly nsid: number | undefined
  readonly staticBar1: boolean
  readonly signal: AbortSignal
  /** Registers values to remove from the report. */
  readonly addSecrets: (secrets: Partial<Secrets>) => void
  /** For tests: finds the ways to map GPU memory. */
  readonly findReach?: FindReach
}

/** Codes of probes that found wrong bytes in GPU memory. */
const WRONG_BYTES = new Set([
  'wrong-content',
  'wrong-place',
  'neighbours-written',
  'stale',
  'nothing-arrived',
  'partly-arrived',
])

/**
 * Negotiates the memory tier; tier 2 requires a probe read into scratch GPU memory with the right content.
 * @throws ToolsError (BYTES_DIFFER) if a probe found wrong bytes; SkippedStep if no probe compared bytes
 */
export async function probeTier(
  transport: Transport,
  settings: MemorySettings,
  record: (facts: StepFacts) => void,
): Promise<string> {
  const { gpu, nsid, staticBar1, findReach: find = findReach } = settings
  const choice = await lendGpu(async (lent) => {
    const [target] = openTarget(gpu, lent.gpu)
    const { controller, choice: engine } = await openDriven(transport, undefined, target, { nsid }, lent.controllers)
    const namespace = namespaceOf(controller, nsid)
    const options = { tier: 2, staticBar1 } as const
    const { choice } = await reachTier({ transport, namespace, target, options, findReach: find }, lent.memory)
    const { chosen, reason, rejected } = choice
    const ofEngine = { chosen: engine.chosen, reason: engine.reason, rejected: engine.rejected }
    record({ tier: { chosen, reason, rejected, engine: ofEngine } })
    return choice
  })
  requireCompared(choice)
  const { chosen, reason, rejected } = choice
  const not = rejected.map((each) => `; ${each.option}: ${each.reason}`).join('')
  return `tier ${chosen}: ${reason}${not}`
}

function requireCompared({ chosen, rejected }: Choice): void {
  const facts = rejected.map(({ option, reason }) => `${option}: ${reason}`)
  if (rejected.some(({ code }) => WRONG_BYTES.has(code ?? '')))
    throw new ToolsError('ERR_GPUNVME_BYTES_DIFFER', 'verification', 'A read into GPU memory left wrong bytes', {
      facts,
    })
  if (chosen !== '2') throw new SkippedStep(`nothing was compared in GPU memory; ${facts.join('; ')}`)
}

/** Loads the smallest model of the image on the drive once, and verifies it by its checksums. */
export async function loadModel(
  opened: OpenedTransport,
  settings: MemorySettings,
  output: Output,
  record: (facts: StepFacts) => void,
): Promise<string> {
  const { gpu, nsid, staticBar1, signal, addSecrets, findReach: find } = settings
  const [model, names] = await smallestModel(opened.transport, nsid, signal)
  addSecrets({ names: names.flatMap((name) => [name, printable(name)]) })
  const options = {
    model,
    gpu: gpuOrNone(gpu),
    tier: 2,
    staticBar1,
    signal,
    ...(nsid !== undefined && { nsid }),
  } as const
  const rig = await composeRig([opened], options, find === undefined ? {} : { findReach: find })
  try {
    const [pass] = await runPasses(rig, { passes: 1, signal, output, onPass: () => undefined })
    const { layers, layersVerified, bytes: places } = pass!
    const bytes = places.gpu + places.host + places.drive
    const decisions = rig.decisions.map(({ subject, chosen, reason }) => {
      return { subject, chosen, reason }
    })
    record({ load: { layers, layersVerified, bytes, tier: rig.tier, decisions } })
    if (layersVerified < layers) throw unverifiedError(layersVerified, layers)
    const where = rig.gpu === undefined ? 'host memory' : `${rig.gpu}, tier ${rig.tier}`
    return `"${printable(model)}" into ${where}: ${plural(layers, 'layer')}, ${formatBytes(bytes)}, all checksums verified`
  } finally {
    await rig.close()
  }
}

function gpuOrNone(gpu: number): number | 'none' {
  const status = cudaStatus()
  return status.available && gpu < status.devices.length ? gpu : 'none'
}

/** @throws SkippedStep without a packed model */
async function smallestModel(
  transport: Transport,
  nsid: number | undefined,
  signal: AbortSignal,
): Promise<readonly [name: string, all: readonly string[]]> {
  return withNamespace(transport, new HostEngine(transport), nsid, async (namespace) => {
    const models = await modelsOn(namespace, signal)
    const [smallest] = models.sort((a, b) => a.bytes - b.bytes)
    if (smallest === undefined) throw noModel()
    return [smallest.name, models.map(({ name }) => name)] as const
  })
}

async function modelsOn(namespace: Namespace, signal: AbortSignal): Promise<{ name: string; bytes: number }[]> {
  try {
    return await readStore([namespace], { signal }, async (store) => {
      const { models } = await openImage(store, { signal })
      return models.map((model) => {
        const pieces = model.layers.flatMap((name) => model.layer(name).pieces)
        return { name: model.name, bytes: pieces.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0) }
      })
    })
  } catch (error) {
    if (hasCode(error, 'ERR_GPUNVME_NO_IMAGE')) throw noModel()
    if (hasCode(error, 'ERR_GPUNVME_STRIPE_MEMBER_MISSING'))
      throw new SkippedStep(
        'the drive is a member of a striped set; load it with gpunvme load, which takes all members',
      )
    throw error
  }
}

function noModel(): SkippedStep {
  return new SkippedStep('the drive has no packed model; gpunvme pack writes one, but destroys the data of the drive')
}

function unverifiedError(verified: number, layers: number): ToolsError {
  const headline = `Only ${verified} of ${plural(layers, 'layer')} could be verified`
  return new ToolsError('ERR_GPUNVME_UNVERIFIED', 'verification', headline, {
    facts: ['the image has no checksums for the other layers'],
  })
}
