import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { DmaMemory, TransportCapabilities } from '@gpunvme/nvme-spec/transport'
import { callback, checkOptions, having, listOf, object, show } from '../arguments.js'
import { decideOrdering, type OrderingFacts, type OrderingRefusal } from './ordering.js'
import type { ProbeRefusal, ProbeVerdict } from './probe-verdict.js'
import { VramRefusedError, type VramProvider, type VramRefusal } from './provider.js'

/** 1: queues and data in host memory. 2: data in GPU memory. 3: queues there too. */
export type Tier = 1 | 2 | 3

/** Why a tier, or a provider for it, was rejected. Stable across releases. */
export type DemotionCode =
  /** By `can` of its transport, the controller cannot access GPU memory. */
  | 'transport'
  /** There is no provider. */
  | 'no-provider'
  | OrderingRefusal
  | VramRefusal
  | ProbeRefusal
  /** Another error. */
  | 'failed'
  /** The controller would read queues in GPU memory, which `peerReads` did not allow. */
  | 'peer-reads-not-allowed'

/** A reason for a lower tier. */
export interface Demotion {
  /** The tier that was not reached. */
  readonly tier: 2 | 3
  readonly code: DemotionCode
  /** Name of the provider, if the reason concerns one. */
  readonly provider?: string
  readonly message: string
  readonly facts: readonly string[]
  /** What to do about it. */
  readonly next?: string
  /** Memory that a failed command may still write to, as in `ProbeVerdict`. */
  readonly quarantined?: DmaMemory
  readonly cause?: unknown
}

/** A provider to try. */
export interface ProviderCandidate {
  readonly name: string
  /** Opens the provider. @throws VramRefusedError if this machine does not support it. */
  open(): VramProvider
}

/** GPU memory that passed its probe, for `withVram`. */
export interface AcceptedMemory {
  readonly provider: VramProvider
  /** The option `flush` of `withVram`; absent if the GPU orders writes itself. */
  readonly flush?: () => void
  /** Findings of the probes. */
  readonly facts: readonly string[]
}

/** Options of `negotiateTier`. */
export interface TierRequest {
  /** The highest tier to negotiate. */
  readonly maxTier: Tier
  /** Capabilities of the controller's transport. */
  readonly can: TransportCapabilities
  /** `ordering` of the GPU in `cudaStatus().devices`; undefined if the driver does not report it. */
  readonly ordering: OrderingFacts | undefined
  /** Calls cuFlushGPUDirectRDMAWrites and returns when it is done. */
  readonly flush?: () => void
  /** Providers in the order to try. Put dma-buf before the static window, which does not keep memory allocated. */
  readonly providers: readonly ProviderCandidate[]
  /** Calls `probeWrites` on memory of a provider, with `flush` if it is needed. */
  readonly probe: (provider: VramProvider, flush: (() => void) | undefined) => Promise<ProbeVerdict>
  /**
   * Allows the controller to read GPU memory, as tier 3 requires, and calls `probeReads`. A machine that drops such reads
   * loses the drive until the bus is reset. Default: not allowed.
   */
  readonly peerReads?: {
    /** Calls `probeReads` on memory of a provider. */
    readonly probe: (provider: VramProvider, flush: (() => void) | undefined) => Promise<ProbeVerdict>
  }
}

/** Result of `negotiateTier`. */
export interface TierResult {
  readonly tier: Tier
  /** The accepted memory, in tiers 2 and 3. */
  readonly memory?: AcceptedMemory
  /** Why higher tiers and earlier providers were rejected. */
  readonly reasons: readonly Demotion[]
}

const checks = {
  maxTier: (name: string, value: unknown) => {
    if (![1, 2, 3].includes(value as number)) throw new RangeError(`${name}: expected 1, 2 or 3, got ${show(value)}`)
  },
  can: object,
  ordering: object,
  flush: callback,
  providers: listOf('providers', having('an object with open()', ['open'])),
  probe: callback,
  peerReads: having('an object with probe()', ['probe']),
}
const NEEDED = ['maxTier', 'can', 'providers', 'probe'] as const

/**
 * Finds the highest tier, up to `maxTier`, that works on this machine. GPU memory is accepted only after a probe has verified
 * its content. Every demotion has a reason.
 * @throws TypeError, RangeError for an invalid request.
 */
export async function negotiateTier(request: TierRequest): Promise<TierResult> {
  checkOptions('negotiateTier', request, checks, NEEDED)
  const { maxTier, peerReads } = request
  if (maxTier === 1) return { tier: 1, reasons: [] }
  const reasons: Demotion[] = []
  const memory = await acceptedMemory(request, reasons)
  if (memory === undefined) return { tier: 1, reasons }
  if (maxTier === 2) return { tier: 2, memory, reasons }
  if (peerReads === undefined) {
    reasons.push({
      tier: 3,
      code: 'peer-reads-not-allowed',
      message: 'the controller must read queues in GPU memory, which was not allowed',
      facts: [],
      next: 'allow peer reads if losing the drive until a bus reset is acceptable',
    })
    return { tier: 2, memory, reasons }
  }
  const { provider, flush } = memory
  const outcome = await outcomeOf(() => peerReads.probe(provider, flush))
  if ('demotion' in outcome) {
    reasons.push({ tier: 3, provider: provider.name, ...outcome.demotion })
    return { tier: 2, memory, reasons }
  }
  return { tier: 3, memory: { ...memory, facts: [...memory.facts, ...outcome.facts] }, reasons }
}

async function acceptedMemory(request: TierRequest, reasons: Demotion[]): Promise<AcceptedMemory | undefined> {
  const { can, ordering, providers, probe } = request
  const demote = (demotion: Omit<Demotion, 'tier'>) => {
    reasons.push({ tier: 2, ...demotion })
  }
  if (!can.dmaToVram) {
    const message = 'the transport does not let the controller access GPU memory'
    demote({ code: 'transport', message, facts: [] })
    return undefined
  }
  const decision = decideOrdering(ordering, request.flush)
  if (decision.kind === 'refused') {
    const said =
      ordering === undefined
        ? 'the driver does not report the ordering of writes'
        : `writes ordering ${ordering.writesOrdering}, flush options ${ordering.flushWritesOptions}`
    demote({ code: decision.reason, message: decision.message, facts: [said] })
    return undefined
  }
  const flush = decision.kind === 'flush' ? decision.flush : undefined
  if (providers.length === 0)
    demote({ code: 'no-provider', message: 'no provider can map GPU memory for the controller', facts: [] })
  for (const candidate of providers) {
    let provider: VramProvider | undefined
    const outcome = await outcomeOf(() => {
      provider = candidate.open()
      return probe(provider, flush)
    })
    if ('demotion' in outcome) demote({ provider: candidate.name, ...outcome.demotion })
    else return { provider: provider!, ...(flush !== undefined && { flush }), facts: outcome.facts }
  }
  return undefined
}

type ProbeOutcome = { readonly facts: readonly string[] } | { readonly demotion: Omit<Demotion, 'tier' | 'provider'> }

/** Returns the result of a probe, or why there was none. Errors other than GpuNvmeError are bugs and are rethrown. */
async function outcomeOf(probe: () => Promise<ProbeVerdict>): Promise<ProbeOutcome> {
  try {
    const verdict = await probe()
    if (verdict.isAccepted) return { facts: verdict.facts }
    const { message, facts, reason: code, next, quarantined, cause } = verdict
    const more = {
      ...(next !== undefined && { next }),
      ...(quarantined !== undefined && { quarantined }),
      ...(cause !== undefined && { cause }),
    }
    return { demotion: { code, message, facts, ...more } }
  } catch (cause) {
    if (!(cause instanceof GpuNvmeError)) throw cause
    const code = cause instanceof VramRefusedError ? cause.reason : 'failed'
    const { headline: message, facts, next } = cause
    return { demotion: { code, message, facts, ...(next !== undefined && { next }), cause } }
  }
}
