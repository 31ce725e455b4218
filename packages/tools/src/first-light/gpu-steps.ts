import { cudaStatus, EngineUnsuitableError } from '@gpunvme/cuda-native'
import { BlackwellRegistersError, cudaEngine } from '@gpunvme/cuda-native/cuda'
import { Controller } from '@gpunvme/host-driver'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import { ToolsError } from '../command-line/tools-error.js'
import { namespaceOf } from '../drive/namespace-of.js'
import { probeDrive } from '../p2p/probe-drive.js'
import { openTarget } from '../rig/gpu.js'
import { lendGpu } from '../rig/lent-gpu.js'
import { plural } from '../terminal/units.js'
import { describeReads } from './drive-steps.js'
import { compareReads, readExtents, requireSameSize, type Reference } from './extents.js'
import type { FirstLightReport, StepFacts } from './report.js'
import { SkippedStep } from './sequence.js'

/** Time limit of the first read: a lost doorbell is then reported without waiting for each further command. */
const ANSWER_NS = 2_000_000_000

/** @throws SkippedStep without that GPU; ToolsError (a code of CUDA) if Linux lists the GPU but CUDA is not available */
export function requireCuda(gpu: number, { steps }: FirstLightReport): void {
  const status = cudaStatus()
  if (!status.available) {
    const { code, message, facts, next } = status
    if (steps.some(({ machine }) => machine?.gpu != null))
      throw new ToolsError(code, 'not-found', message, { facts, next })
    throw new SkippedStep(`no GPU: ${message}`)
  }
  const { length } = status.devices
  if (gpu >= length) throw new SkippedStep(`no GPU ${gpu}: CUDA lists ${plural(length, 'GPU')}`)
}

/** @throws SkippedStep if a GPU cannot write doorbells of this drive at all */
function skipWithoutRegisters({ bar, bdf }: Transport): void {
  if (bar.window !== undefined) return
  const advice = bdf === undefined ? '; a simulated drive with --real-time has registers in memory' : ''
  throw new SkippedStep(`the registers of this drive are not memory-mapped${advice}`)
}

/** Makes the GPU store to a register of the disabled controller. */
export async function probeDoorbell(
  transport: Transport,
  gpu: number,
  signal: AbortSignal,
  record: (facts: StepFacts) => void,
): Promise<string> {
  skipWithoutRegisters(transport)
  const { arrived, stores, isSimulated } = await skipping(() => probeDrive(transport, gpu, signal))
  record({ doorbell: { arrived, stores, isSimulated } })
  if (!arrived) {
    const count = stores.filter((store) => store.arrived).length
    const headline = "GPU stores did not reach the drive's registers"
    throw new ToolsError('ERR_GPUNVME_DOORBELL_LOST', 'verification', headline, {
      facts: [`${count} of ${plural(stores.length, 'store')} arrived`],
      next: 'let the CPU write the doorbells',
    })
  }
  const where = isSimulated ? '; the registers of this drive are memory' : ''
  return `${plural(stores.length, 'store')} of GPU ${gpu} arrived${where}`
}

/** Reads by the engine cuda, and compares with the reference. @param doorbells what writes the doorbells */
export async function readByGpu(
  transport: Transport,
  { gpu, doorbells, reference }: { gpu: number; doorbells: 'gpu' | 'cpu'; reference: Reference | undefined },
  signal: AbortSignal,
  record: (facts: StepFacts) => void,
): Promise<string> {
  skipWithoutRegisters(transport)
  if (reference === undefined) throw new SkippedStep('there is no reference to compare with')
  const { extents, nsid } = reference
  return skipping(() =>
    lendGpu(async (lent) => {
      const [{ gpu: opened }] = openTarget(gpu, lent.gpu)
      const controller = await Controller.open(transport, {
        engine: cudaEngine(transport, opened!.cuda, { doorbells }),
      })
      lent.controllers.push(controller)
      const namespace = namespaceOf(controller, nsid)
      requireSameSize(reference, namespace)
      await namespace.readBytes(0, namespace.blockBytes, { timeoutNs: ANSWER_NS, signal })
      return describeReads(compareReads(reference, await readExtents(namespace, extents, signal), record))
    }),
  )
}

/** Runs `use`; skips the step if the engine rejects the GPU or the drive. */
async function skipping<T>(use: () => Promise<T>): Promise<T> {
  try {
    return await use()
  } catch (error) {
    if (error instanceof BlackwellRegistersError || error instanceof EngineUnsuitableError)
      throw new SkippedStep(error.headline)
    throw error
  }
}
