import { HostEngine, type Namespace } from '@gpunvme/host-driver'
import { hasCode, openImage } from '@gpunvme/layer-loader'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import type { OpenedTransport } from '../drive/opened-transport.js'
import { runPasses } from '../loading/passes.js'
import { readStore } from '../model/store-of.js'
import { openDriven, type Driven } from '../rig/engine.js'
import { openTarget } from '../rig/gpu.js'
import { composeRig } from '../rig/open-rig.js'
import { findReach, type FindReach } from '../rig/reach.js'
import { Teardown } from '../rig/teardown.js'
import { reachTier } from '../rig/tier.js'
import { ToolsError } from '../command-line/tools-error.js'
import type { Output } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { formatBytes, plural } from '../terminal/units.js'
import { withNamespace } from './drive-steps.js'
import { skipWithoutGpu } from './gpu-steps.js'
import type { Redactor } from './redact.js'
import type { StepFacts } from './report.js'
import { SkippedStep } from './sequence.js'

/** Parameters of both steps. */
export interface MemorySettings {
  readonly gpu: number
  readonly nsid: number | undefined
  readonly staticBar1: boolean
  readonly signal: AbortSignal
  readonly redactor: Redactor
  /** For tests: finds the ways to map GPU memory. */
  readonly findReach?: FindReach
}

/** Probes which tier the drive and the GPU reach: reads into scratch GPU memory, compared byte by byte. */
export async function probeTier(
  transport: Transport,
  settings: MemorySettings,
  record: (facts: StepFacts) => void,
): Promise<string> {
  const { gpu, nsid, staticBar1, redactor, findReach: find = findReach } = settings
  skipWithoutGpu(gpu)
  const [gpuOpen, gpuMemory] = [new Teardown(), new Teardown()]
  const driven: Driven[] = []
  let isRunning = false
  const all = new Teardown()
  // A controller that could not be stopped may still write to GPU memory, which is then kept until the process ends.
  for (const part of [gpuOpen, gpuMemory]) all.add(() => (isRunning ? undefined : part.run()))
  all.add(async () => {
    isRunning = true
    for (const { controller } of driven) await controller.close()
    isRunning = false
  })
  try {
    const [target] = openTarget(gpu, gpuOpen)
    const { controller, choice: engine } = await openDriven(transport, undefined, target, { nsid }, driven)
    const namespace = controller.namespace(nsid ?? controller.namespaces[0]?.identity.nsid ?? 1)
    const options = { tier: 2, staticBar1 } as const
    const { choice } = await reachTier({ transport, namespace, target, options, findReach: find }, gpuMemory)
    const clean = (rejected: (typeof choice)['rejected']) =>
      rejected.map(({ option, reason }) => ({ option, reason: redactor.text(reason) }))
    const { chosen, reason, rejected } = choice
    record({
      tier: {
        ...{ chosen, reason: redactor.text(reason), rejected: clean(rejected) },
        engine: { chosen: engine.chosen, reason: redactor.text(engine.reason), rejected: clean(engine.rejected) },
      },
    })
    await all.run()
    const not = rejected.map((each) => `; ${each.option}: ${each.reason}`).join('')
    return `tier ${chosen}: ${reason}${not}`
  } catch (error) {
    return all.undo(error)
  }
}

/** Loads the smallest model of the image on the drive once, and verifies every byte. */
export async function loadModel(
  opened: OpenedTransport,
  settings: MemorySettings,
  output: Output,
  record: (facts: StepFacts) => void,
): Promise<string> {
  const { gpu, nsid, staticBar1, signal, redactor, findReach: find } = settings
  const model = await smallestModel(opened.transport, nsid, signal)
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
    const why = rig.why.map(({ subject, chosen, reason }) => {
      return { subject, chosen: redactor.text(chosen), reason: redactor.text(reason) }
    })
    record({ load: { layers, layersVerified, bytes, tier: rig.tier, why } })
    if (layersVerified < layers) throw unverifiedError(layersVerified, layers)
    const where = rig.gpu === undefined ? 'host memory' : `${rig.gpu}, tier ${rig.tier}`
    return `"${printable(model)}" into ${where}: ${plural(layers, 'layer')}, ${formatBytes(bytes)}, every byte verified`
  } finally {
    await rig.close()
  }
}

function gpuOrNone(gpu: number): number | 'none' {
  try {
    skipWithoutGpu(gpu)
    return gpu
  } catch (error) {
    if (error instanceof SkippedStep) return 'none'
    throw error
  }
}

/** @throws SkippedStep without a packed model */
async function smallestModel(transport: Transport, nsid: number | undefined, signal: AbortSignal): Promise<string> {
  return withNamespace(transport, new HostEngine(transport), nsid, async (namespace) => {
    const models = await modelsOn(namespace, signal)
    const [smallest] = models.sort((a, b) => a.bytes - b.bytes)
    if (smallest === undefined) throw noModel()
    return smallest.name
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
      throw new SkippedStep('the drive is one of a striped set; gpunvme load takes all of them')
    throw error
  }
}

function noModel(): SkippedStep {
  return new SkippedStep('the drive has no packed model; gpunvme pack writes one, but destroys the data of the drive')
}

function unverifiedError(verified: number, layers: number): ToolsError {
  const headline = `Only ${verified} of ${plural(layers, 'layer')} could be verified`
  return new ToolsError('ERR_GPUNVME_UNVERIFIED', 'verification', headline, {
    facts: ['the image has no checksums of the others'],
  })
}
