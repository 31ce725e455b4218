import { EngineUnsuitableError } from '@gpunvme/cuda-native'
import { BlackwellRegistersError, cudaEngine, CudaRegistrationError } from '@gpunvme/cuda-native/cuda'
import { Controller, HostEngine, type ControllerOptions } from '@gpunvme/host-driver'
import type { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { Engine, Transport } from '@gpunvme/nvme-spec/transport'
import { openEngine, type EngineName } from '../drive/by-name.js'
import type { Choice } from './choice.js'
import type { Target } from './gpu.js'

/** A controller and its engine. */
export interface Driven {
  readonly controller: Controller
  readonly choice: Choice
}

/**
 * Opens the controller with the requested engine; by default, with `cuda` if the GPU can ring its doorbells, otherwise
 * with `host`.
 * @throws errors of `Controller.open`; EngineUnsuitableError, CudaUnavailableError, … for a requested engine
 */
export async function openDriven(
  transport: Transport,
  wanted: EngineName | undefined,
  { gpu }: Target,
  options: ControllerOptions,
): Promise<Driven> {
  const drive = transport.bdf ?? transport.name
  const choice = (chosen: EngineName, reason: string, rejected: Choice['rejected'] = []): Choice => {
    return { subject: 'engine', drive, chosen, reason, rejected }
  }
  if (wanted !== undefined) {
    // The engine uses the GPU that receives the layers.
    const engine =
      wanted === 'cuda' && gpu !== undefined ? cudaEngine(transport, gpu.cuda) : openEngine(wanted, transport)
    const controller = await Controller.open(transport, { ...options, engine })
    return { controller, choice: choice(wanted, 'requested') }
  }
  const byHost = async (reason: string): Promise<Driven> => {
    const controller = await Controller.open(transport, { ...options, engine: new HostEngine(transport) })
    return { controller, choice: choice('host', 'works with every transport', [{ option: 'cuda', reason }]) }
  }
  if (gpu === undefined) return byHost('no GPU')
  try {
    const engine: Engine = cudaEngine(transport, gpu.cuda)
    const controller = await Controller.open(transport, { ...options, engine })
    return { controller, choice: choice('cuda', 'the GPU can write the doorbells') }
  } catch (error) {
    if (!isUnsuitable(error)) throw error
    return byHost(error.headline)
  }
}

/** The GPU cannot access the registers: a property of the machine, not a failure of the drive. */
function isUnsuitable(error: unknown): error is GpuNvmeError {
  return [EngineUnsuitableError, BlackwellRegistersError, CudaRegistrationError].some((type) => error instanceof type)
}
