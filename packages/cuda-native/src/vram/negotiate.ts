import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { DmaMemory, TransportCapabilities } from '@gpunvme/nvme-spec/transport'
import { callback, checkOptions, having, listOf, object, show } from '../arguments.js'
import { decideOrdering, type OrderingFacts, type OrderingRefusal } from './ordering.js'
import type { ProbeRefusal, ProbeVerdict } from './probe-verdict.js'
import { VramRefusedError, type VramProvider, type VramRefusal } from './provider.js'

/** 1: queues and data in host memory. 2: data in GPU memory. 3: queues there too. */
export type Tier = 1 | 2 | 3

/** Why a tier, or one way to it, was not taken. Stable across releases. */
export type DemotionCode =
  /** The transport says that the controller does not reach GPU memory. */
  | 'transport'
  /** There is nothing that could give GPU memory addresses. */
  | 'no-provider'
  | OrderingRefusal
  | VramRefusal
  | ProbeRefusal
  /** Something else failed on the way. */
  | 'failed'
  /** Queues in GPU memory are read by the controller, and nobody allowed that. */
  | 'peer-reads-not-allowed'

/** Why it did not become more. */
export interface Demotion {
  /** The tier that was not reached by this. */
  readonly tier: 2 | 3
  readonly code: DemotionCode
  /** The provider, where it was one of several ways. */
  readonly provider?: string
  readonly message: string
  readonly facts: readonly string[]
  readonly next?: string
  /** As of a ProbeVerdict: memory that a failed command may still be writing to. */
  readonly kept?: DmaMemory
  readonly cause?: unknown
}

/** A way to GPU memory that may be tried. */
export interface ProviderCandidate {
  readonly name: string
  /** @throws VramRefusedError where this machine does not have it. */
  open(): VramProvider
}

/** What GPU memory was accepted, and how it is used. */
export interface AcceptedMemory {
  readonly provider: VramProvider
  /** For `withVram`; absent where the GPU keeps writes in order by itself. */
  readonly flush?: () => void
  /** What the probes saw. */
  readonly facts: readonly string[]
}

/** What is wanted, and what is known. */
export interface TierRequest {
  readonly wanted: Tier
  readonly can: TransportCapabilities
  /** What CUDA says of its GPU; undefined where it does not. */
  readonly ordering: OrderingFacts | undefined
  /** Calls cuFlushGPUDirectRDMAWrites. */
  readonly flush?: () => void
  /** In the order they are to be tried: dma-buf before the static window, which holds no memory. */
  readonly providers: readonly ProviderCandidate[]
  /** `probeWrites` over a provider, with `flush` where it is needed. */
  readonly probe: (provider: VramProvider, flush: (() => void) | undefined) => Promise<ProbeVerdict>
  /**
   * Lets the controller read GPU memory, without which there is no tier 3, and proves it by `probeReads`. Absent where
   * that is not allowed: a machine that drops such reads loses the drive until the bus is reset.
   */
  readonly peerReads?: {
    readonly probe: (provider: VramProvider, flush: (() => void) | undefined) => Promise<ProbeVerdict>
  }
}

/** What it came to. Where that is less than what was wanted, `reasons` says why; it may also say what was tried before. */
export interface TierResult {
  readonly tier: Tier
  readonly memory?: AcceptedMemory
  readonly reasons: readonly Demotion[]
}

const checks = {
  wanted: (name: string, value: unknown) => {
    if (![1, 2, 3].includes(value as number)) throw new RangeError(`${name}: expected 1, 2 or 3, got ${show(value)}`)
  },
  can: object,
  ordering: object,
  flush: callback,
  providers: listOf('providers', having('one with open()', ['open'])),
  probe: callback,
  peerReads: having('an object with probe()', ['probe']),
}
const NEEDED = ['wanted', 'can', 'providers', 'probe'] as const

/**
 * Finds the highest tier, up to the one that is wanted, that this machine was seen to do: a memory counts when a probe
 * has verified what arrived in it. Nothing is demoted without a reason, and nothing is promoted above what was asked for.
 * @throws TypeError, RangeError for a request that is none.
 */
export async function negotiateTier(request: TierRequest): Promise<TierResult> {
  checkOptions('negotiateTier', request, checks, NEEDED)
  const { wanted, peerReads } = request
  if (wanted === 1) return { tier: 1, reasons: [] }
  const reasons: Demotion[] = []
  const memory = await acceptedMemory(request, reasons)
  if (memory === undefined) return { tier: 1, reasons }
  if (wanted === 2) return { tier: 2, memory, reasons }
  if (peerReads === undefined) {
    reasons.push({
      tier: 3,
      code: 'peer-reads-not-allowed',
      message: 'queues in GPU memory are read by the controller, which was not allowed',
      facts: [],
      next: 'allow peer reads where losing the drive until the bus is reset is acceptable',
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
    const message = 'by what its transport says, the controller does not reach GPU memory'
    demote({ code: 'transport', message, facts: [] })
    return undefined
  }
  const decision = decideOrdering(ordering, request.flush)
  if (decision.kind === 'refused') {
    const said =
      ordering === undefined
        ? 'the driver does not answer'
        : `writes ordering ${ordering.writesOrdering}, flush options ${ordering.flushWritesOptions}`
    demote({ code: decision.reason, message: decision.message, facts: [said] })
    return undefined
  }
  const flush = decision.kind === 'flush' ? decision.flush : undefined
  if (providers.length === 0)
    demote({ code: 'no-provider', message: 'there is no way to map GPU memory for the controller', facts: [] })
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

/** What a probe came to, or why there was none. Mistakes in a program are not a machine's fault, and are thrown on. */
async function outcomeOf(probe: () => Promise<ProbeVerdict>): Promise<ProbeOutcome> {
  try {
    const verdict = await probe()
    if (verdict.isAccepted) return { facts: verdict.facts }
    const { message, facts, reason: code, next, kept, cause } = verdict
    const more = {
      ...(next !== undefined && { next }),
      ...(kept !== undefined && { kept }),
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
