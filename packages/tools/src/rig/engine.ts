import { EngineUnsuitableError } from '@gpunvme/cuda-native'
import { BlackwellRegistersError, cudaEngine, CudaRegistrationError } from '@gpunvme/cuda-native/cuda'
import { Controller, HostEngine, TransferError, type ControllerOptions } from '@gpunvme/host-driver'
import type { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { Engine, Transport } from '@gpunvme/nvme-spec/transport'
import { openEngine, type EngineName } from '../drive/by-name.js'
import type { Choice } from './choice.js'
import type { Target } from './gpu.js'

/** A controller and the choice of its engine. */
interface Driven {
  readonly controller: Controller
  readonly choice: Choice
}

/** Time limit of the first read: far more than a drive takes to wake from its deepest power state. */
const ANSWER_NS = 1_000_000_000

/**
 * Opens the controller with the requested engine. The default is `cuda`: the GPU writes the doorbells if a read proves that
 * they arrive, otherwise the CPU does. If the GPU cannot access the queues, the default is `host`.
 * @param opened receives each controller as soon as it is open, and loses it after it was closed.
 * @throws errors of `Controller.open`; EngineUnsuitableError, CudaUnavailableError, … for a requested engine
 */
export async function openDriven(
  transport: Transport,
  wanted: EngineName | undefined,
  { gpu }: Target,
  options: ControllerOptions & { readonly nsid?: number | undefined },
  opened: Controller[],
): Promise<Driven> {
  const { nsid, ...more } = options
  const drive = transport.bdf ?? transport.name
  const rejected: { option: string; reason: string }[] = []
  const openWith = async (chosen: EngineName, engine: Engine, reason: string): Promise<Driven> => {
    const controller = await Controller.open(transport, { ...more, engine })
    opened.push(controller)
    return { controller, choice: { subject: 'engine', drive, chosen, reason, rejected } }
  }
  if (wanted !== undefined) {
    // The engine uses the GPU that receives the layers.
    const engine =
      wanted === 'cuda' && gpu !== undefined ? cudaEngine(transport, gpu.cuda) : openEngine(wanted, transport)
    return openWith(wanted, engine, 'requested')
  }
  const attempts = gpu === undefined ? [] : WAYS
  if (gpu === undefined) rejected.push({ option: 'cuda', reason: 'no GPU' })
  for (const { doorbells, option, reason } of attempts) {
    try {
      const driven = await openWith('cuda', cudaEngine(transport, gpu!.cuda, { doorbells }), reason)
      if (doorbells === 'cpu' || (await isAnswered(driven.controller, nsid))) return driven
      await driven.controller.close()
      opened.splice(opened.indexOf(driven.controller), 1)
      rejected.push({ option, reason: 'a read whose doorbell the GPU rang was not answered' })
    } catch (error) {
      if (!isUnsuitable(error)) throw error
      rejected.push({ option, reason: error.headline })
    }
  }
  return openWith('host', new HostEngine(transport), 'works with every transport')
}

/** Ways to use the engine `cuda`, best first. */
const WAYS = [
  { doorbells: 'gpu', option: 'cuda', reason: 'the GPU can write the doorbells' },
  { doorbells: 'cpu', option: 'cuda, with doorbells by the CPU', reason: 'the CPU writes the doorbells for the GPU' },
] as const

/**
 * Returns whether a read is answered, also after the recovery of a time-out; true without a readable namespace. A drive that
 * answers with an error has received its doorbell.
 */
async function isAnswered(controller: Controller, nsid: number | undefined): Promise<boolean> {
  const usable = controller.namespaces.filter(
    ({ identity, blocks }) => identity.unsupported === undefined && blocks > 0,
  )
  const namespace = usable.find(({ identity }) => identity.nsid === nsid) ?? usable[0]
  if (namespace === undefined) return true
  try {
    await namespace.readBytes(0, namespace.blockBytes, { timeoutNs: ANSWER_NS })
    return true
  } catch (error) {
    if (!(error instanceof TransferError)) throw error
    return error.failures.every(({ outcome }) => outcome.kind === 'status')
  }
}

/** The GPU cannot access the registers: a property of the machine, not a failure of the drive. */
function isUnsuitable(error: unknown): error is GpuNvmeError {
  return [EngineUnsuitableError, BlackwellRegistersError, CudaRegistrationError].some((type) => error instanceof type)
}
