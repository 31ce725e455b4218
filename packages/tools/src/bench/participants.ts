import { HostEngine, type WriteRequest } from '@gpunvme/host-driver'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { openEngine, type EngineName } from '../drive/by-name.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import type { BenchReason, BenchSource } from '../report/bench-results.js'
import { BASELINE_KINDS, type BaselineName } from './baselines.js'
import type { Contender } from './contender.js'
import { EngineContender } from './engine-contender.js'
import { engineSource } from './engine-sources.js'
import { reasonOf } from './error-reason.js'
import type { Setting } from './setting.js'

/** The requested sources: those that can run, and why the others cannot. */
export interface Participants {
  readonly contenders: readonly Contender[]
  readonly sources: readonly BenchSource[]
}

/** Default engines: only host if the registers are not mapped memory. */
export function defaultEngines({ transport }: Pick<OpenedTransport, 'transport'>): readonly EngineName[] {
  return transport.bar.window === undefined ? ['host'] : ['host', 'cpu-kernel', 'cuda']
}

export function participantsOf(
  engines: readonly EngineName[],
  baselines: readonly BaselineName[],
  opened: OpenedTransport,
  measure: { readonly setting: Setting; readonly nsid: number; readonly write: WriteRequest | undefined },
): Participants {
  const found = engines.map((name) => ({ name, missing: missingEngine(name, opened) }))
  return {
    contenders: found
      .filter(({ missing }) => missing === undefined)
      .map(({ name }) => new EngineContender({ name, opened, ...measure, makeEngine: engineMaker(name) })),
    sources: [
      ...found.map(({ name, missing }) => withMissing(engineSource(name), missing)),
      ...baselines.map((name) => withMissing(BASELINE_KINDS[name].source, noKernel(opened))),
    ],
  }
}

export function withMissing(source: BenchSource, missing: BenchReason | undefined): BenchSource {
  return missing === undefined ? source : { ...source, missing }
}

/** Returns the factory of an engine for each repeat. */
export function engineMaker(name: EngineName): ConstructorParameters<typeof EngineContender>[0]['makeEngine'] {
  if (name !== 'host') return (transport) => openEngine(name, transport)
  return (transport, { onCompleted }) => new HostEngine(transport, { onCompleted })
}

/** Returns why an engine cannot use this transport; undefined if it can. */
export function missingEngine(name: EngineName, { transport }: OpenedTransport): BenchReason | undefined {
  try {
    openEngine(name, transport)
    return undefined
  } catch (error) {
    if (!(error instanceof GpuNvmeError)) throw error
    return reasonOf(error)
  }
}

/** Linux's driver and ours cannot be bound to a drive at the same time. */
function noKernel({ name }: OpenedTransport): BenchReason {
  if (name === 'sim' || name === 'qtest') {
    return { reason: 'the drive is simulated, so Linux has no path to it' }
  }
  if (name === 'vfio-user') {
    return {
      reason: 'the drive is reached over a socket, so this kernel has no path to it',
    }
  }
  return {
    reason: "the drive is bound to our driver, not to Linux's",
    next: "use --hand-over while the drive is bound to Linux's driver; it alternates drivers",
  }
}
