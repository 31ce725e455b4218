import { invalidArgument } from '../formats/invalid-argument.js'
import { checkDeadline, deadlinePassed } from './deadline.js'
import { deferred } from './deferred.js'
import type { ExpertCacheOptions, ExpertCacheStatistics } from './expert-options.js'
import type { StoredExtent, StoredModel } from './extent.js'
import type { Lease } from './lease.js'
import { Loader, openLoader, type RequestOptions } from './loader.js'
import { measureExperts } from './measure-experts.js'
import { requireModel } from './require-model.js'
import { requireSignal } from './options.js'
import { checkPriority, type Priority, type Ticket } from './ticket.js'

/** An expert in memory or on its way. */
interface Entry {
  readonly key: string
  readonly ticket: Ticket
  readonly arrival: Promise<Lease>
  /** Keeps the slot; set once the expert is in memory. */
  lease: Lease | undefined
  /** Number of leases that callers hold. */
  users: number
  /** Number of requests that wait for the read. */
  waiting: number
  /** Expected by a hint, and not used since. */
  hinted: boolean
}

const URGENCY: readonly Priority[] = ['now', 'soon', 'ahead']

/**
 * Opens a cache of a model's routed experts. Nothing is allocated or read before the first request.
 *
 * ```ts
 * await using cache = openExpertCache(model, { cacheBytes: 8e9 })
 * cache.prefetch(13, predicted)
 * using expert = await cache.request(12, 7, { priority: 'now', deadlineMs: 100 })
 * ```
 *
 * @param target a model; or a loader whose slots it shares, so that experts and other requests are read in one order of
 * urgency. The options of the loader then apply.
 * @throws LoaderError (INVALID_ARGUMENT, UNEVEN_EXPERTS), errors of `openLoader`. INVALID_ARGUMENT: the model has no
 * experts, `cacheBytes` is smaller than one expert, or the loader has one slot or `memoryBytes`. UNEVEN_EXPERTS: the
 * experts of no layer can be separated.
 */
export function openExpertCache(
  target: StoredModel | Loader,
  { cacheBytes, ...options }: ExpertCacheOptions,
): ExpertCache {
  const shared = target instanceof Loader ? target : undefined
  const model = target instanceof Loader ? target.model : target
  requireModel(model)
  if (shared?.options.memoryBytes !== undefined)
    throw invalidArgument('loader', 'a loader with slots', 'one with memoryBytes')
  const { count, largestBytes } = measureExperts(model, shared?.options ?? options)
  const slotBytes = shared?.slotBytes ?? largestBytes
  // One slot of a shared loader is left to its other requests.
  const slots = Math.min(Math.floor(cacheBytes / slotBytes), shared === undefined ? count : shared.slots - 1)
  if (shared !== undefined && shared.slots < 2) throw invalidArgument('loader', 'a loader with at least 2 slots', '1')
  if (!(slots >= 1)) throw invalidArgument('cacheBytes', `at least ${slotBytes}, for one expert`, `${cacheBytes}`)
  return new ExpertCache(shared ?? openLoader(model, { ...options, slots, slotBytes }), slots, shared === undefined)
}

/**
 * Keeps routed experts in memory up to a budget, and evicts the least recently used one that is not leased. Requests
 * for one expert share one read. A failed read is not kept: the next request reads again.
 */
export class ExpertCache {
  /** Maximum number of experts in memory. */
  readonly slots: number
  readonly #loader: Loader
  readonly #ownsLoader: boolean
  /** The least recently used first. More than `slots` only while requests wait for leases to end. */
  readonly #entries = new Map<string, Entry>()
  readonly #lent = new Set<Lease>()
  readonly #counts = { hits: 0, misses: 0, sharedReads: 0, prefetches: 0, evictions: 0, bytesRead: 0 }
  #closing: DOMException | undefined

  /** @internal */
  constructor(loader: Loader, slots: number, ownsLoader: boolean) {
    this.#loader = loader
    this.slots = slots
    this.#ownsLoader = ownsLoader
  }

  get statistics(): ExpertCacheStatistics {
    const held = [...this.#entries.values()].filter(({ lease }) => lease !== undefined)
    const heldBytes = held.reduce((sum, { ticket }) => sum + ticket.plan.memoryBytes, 0)
    return { ...this.#counts, heldBytes }
  }

  /**
   * Returns a lease of an expert. If leases hold all slots, it waits until one ends.
   * An abort or deadline of one request does not affect others for the same expert.
   * @throws ExtentNotFoundError, LoaderError (INVALID_ARGUMENT, UNEVEN_EXPERTS, DEADLINE), errors of `Ticket.lease`,
   * the signal's reason, RangeError for an invalid `deadlineMs`, AbortError after `close`.
   */
  async request(layer: string | number, expert: number, options: RequestOptions = {}): Promise<Lease> {
    const { signal, deadlineMs, priority = 'soon' } = options
    if (deadlineMs !== undefined) checkDeadline(deadlineMs)
    requireSignal(signal)
    checkPriority(priority)
    this.#requireOpen()
    signal?.throwIfAborted()
    const entry = this.#join(layer, expert, priority)
    if (entry.lease !== undefined) return this.#lend(entry, entry.lease)
    entry.waiting++
    try {
      const lease = await withinLimits(entry, options)
      // A lease that arrives during `close` has ended.
      this.#requireOpen()
      return this.#lend(entry, lease)
    } finally {
      entry.waiting--
      if (isAbandoned(entry)) this.#remove(entry)
      this.#makeRoom(0)
    }
  }

  /**
   * Hints that experts of a layer will be requested: reads those that are not in memory after all requests. Hints never
   * wait for a slot: those without room are dropped. A failed read is reported by a later request only.
   * @throws ExtentNotFoundError, LoaderError (INVALID_ARGUMENT, UNEVEN_EXPERTS), AbortError after `close`.
   */
  prefetch(layer: string | number, experts: readonly number[]): void {
    this.#requireOpen()
    const expected = new Map(experts.map((expert) => [keyOf(layer, expert), expert]))
    for (const key of expected.keys()) {
      const entry = this.#entries.get(key)
      if (entry !== undefined) this.#touch(entry).hinted = true
    }
    for (const [key, expert] of expected) {
      if (this.#entries.has(key)) continue
      const extent = this.#loader.model.expert(layer, expert)
      if (!this.#makeRoom(1, expected)) return
      this.#counts.prefetches++
      this.#read(key, extent, 'ahead').hinted = true
    }
  }

  /** Ends all leases and requests; waits for reads in flight if the cache has its own loader. Idempotent. */
  async close(): Promise<void> {
    this.#closing ??= new DOMException('the expert cache was closed', 'AbortError')
    for (const lease of this.#lent) lease.release()
    for (const entry of this.#entries.values()) this.#remove(entry)
    if (this.#ownsLoader) await this.#loader.close()
  }

  /** Same as `close`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** Returns the entry of an expert, and reads it if there is none. */
  #join(layer: string | number, expert: number, priority: Priority): Entry {
    const key = keyOf(layer, expert)
    const known = this.#entries.get(key)
    // The loader was closed, which ended its leases.
    if (known?.lease?.released === true) this.#forget(known)
    const found = this.#entries.get(key)
    if (found === undefined) {
      const extent = this.#loader.model.expert(layer, expert)
      this.#makeRoom(1)
      this.#counts.misses++
      return this.#read(key, extent, priority)
    }
    this.#counts[found.lease === undefined ? 'sharedReads' : 'hits']++
    const { ticket } = found
    if (URGENCY.indexOf(priority) < URGENCY.indexOf(ticket.priority)) ticket.setPriority(priority)
    return this.#touch(found)
  }

  #read(key: string, extent: StoredExtent, priority: Priority): Entry {
    const ticket = this.#loader.request(extent, { priority })
    const arrival = ticket.lease().then(
      (lease) => {
        this.#counts.bytesRead += lease.statistics.bytes
        if (this.#entries.get(key) === entry) entry.lease = lease
        // It was cancelled after it had arrived.
        else lease.release()
        return lease
      },
      (error: unknown) => {
        this.#forget(entry)
        throw error
      },
    )
    // No request waits for a hint, so nothing else handles its failure.
    arrival.catch(() => undefined)
    const entry: Entry = { key, ticket, arrival, lease: undefined, users: 0, waiting: 0, hinted: false }
    this.#entries.set(key, entry)
    return entry
  }

  #lend(entry: Entry, owned: Lease): Lease {
    entry.users++
    entry.hinted = false
    const lease = owned.share(() => {
      this.#lent.delete(lease)
      entry.users--
      this.#makeRoom(0)
    })
    this.#lent.add(lease)
    return lease
  }

  /** Marks an entry as the most recently used. */
  #touch(entry: Entry): Entry {
    this.#entries.delete(entry.key)
    this.#entries.set(entry.key, entry)
    return entry
  }

  /**
   * Evicts unused experts until there is room for more, and returns whether there is.
   * @param keep keys of experts to keep.
   */
  #makeRoom(more: number, keep?: ReadonlyMap<string, unknown>): boolean {
    for (const entry of this.#entries.values()) {
      if (this.#hasRoomFor(more)) return true
      if (entry.users > 0 || entry.waiting > 0 || keep?.has(entry.key) === true) continue
      if (entry.lease !== undefined) this.#counts.evictions++
      this.#remove(entry)
    }
    return this.#hasRoomFor(more)
  }

  #hasRoomFor(more: number): boolean {
    // Other requests of a shared loader may hold slots.
    const { held, slots } = this.#loader
    return this.#entries.size + more <= this.slots && held + more <= slots
  }

  #remove(entry: Entry): void {
    this.#forget(entry)
    if (entry.lease === undefined) entry.ticket.cancel(this.#closing)
    else entry.lease.release()
  }

  #requireOpen(): void {
    if (this.#closing !== undefined) throw this.#closing
  }

  #forget(entry: Entry): void {
    if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key)
  }
}

/** Returns whether an expert that is being read is no longer wanted. */
const isAbandoned = ({ lease, waiting, hinted }: Entry) => lease === undefined && waiting === 0 && !hinted

const keyOf = (layer: string | number, expert: number) =>
  `${typeof layer === 'number' ? `layer ${layer}` : layer} expert ${expert}`

/** Waits for an expert. @throws LoaderError (DEADLINE), the signal's reason, errors of `arrival`. */
async function withinLimits({ arrival, ticket }: Entry, { signal, deadlineMs }: RequestOptions): Promise<Lease> {
  const limit = deferred<never>()
  const onAbort = () => limit.reject(signal?.reason)
  const onDeadline = () => limit.reject(deadlinePassed(ticket.extent, deadlineMs!, ticket.state))
  const timer = deadlineMs === undefined ? undefined : setTimeout(onDeadline, deadlineMs)
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([arrival, limit.promise])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}
