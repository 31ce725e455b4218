/** A layer that is being loaded. */
interface Coming<T> {
  readonly layer: string
  readonly loaded: Promise<T>
}

/** Loads a layer, and discards an unused one. */
export interface LaneWork<T> {
  load(layer: string): Promise<T>
  drop(loaded: T): void
}

/**
 * Loads layers before their use, in the expected order, as many at a time as it has places. A place is occupied from
 * the start of loading until `free`, so that a slow consumer stops the lane.
 */
export class Lane<T> {
  private readonly places: number
  private readonly work: LaneWork<T>
  private expected: readonly string[] = []
  /** Index into `expected` of the first layer that has not been started. */
  private next = 0
  private coming: Coming<T>[] = []
  private taken = 0
  private readonly leaving = new Set<Promise<void>>()
  private wake: (() => void)[] = []
  private isClosed = false

  constructor(places: number, work: LaneWork<T>) {
    this.places = places
    this.work = work
  }

  /** Whether taken layers occupy all places: nothing is loaded until one is freed. */
  get isHeld(): boolean {
    return this.coming.length === 0 && this.leaving.size === 0 && this.taken >= this.places
  }

  /**
   * Sets the layers that will be taken. Loads that match the order are kept; others are discarded once complete.
   */
  expect(layers: readonly string[]): void {
    const same = this.coming.findIndex(({ layer }, index) => layer !== layers[index])
    for (const { loaded } of this.coming.splice(same < 0 ? this.coming.length : same)) this.discard(loaded)
    this.expected = layers
    this.next = this.coming.length
    this.fill()
  }

  /**
   * Waits for the first expected layer and takes it. Its place is occupied until `free`; if loading fails, the place is
   * freed.
   * @throws errors of loading it; the signal's reason, after which it is still the first
   */
  async take(signal: AbortSignal): Promise<T> {
    while (this.coming.length === 0) {
      signal.throwIfAborted()
      await unlessAborted(new Promise<void>((resolve) => this.wake.push(resolve)), signal)
    }
    const [first] = this.coming
    let failure: unknown
    const loaded = await unlessAborted(first!.loaded, signal).catch((error: unknown) => {
      if (signal.aborted) throw error
      failure = error
    })
    // The layer may have been discarded meanwhile; its place was then freed.
    signal.throwIfAborted()
    if (this.coming[0] !== first) return this.take(signal)
    this.coming.shift()
    this.expected = this.expected.slice(1)
    this.next--
    if (loaded !== undefined) return loaded
    this.free()
    throw failure
  }

  /** Frees the place of a taken layer. */
  free(): void {
    this.taken--
    this.fill()
  }

  /** Stops loading, and waits for loads in flight. Abort the signal of any pending `take` first. */
  async close(): Promise<void> {
    this.isClosed = true
    for (const { loaded } of this.coming.splice(0)) this.discard(loaded)
    await Promise.all(this.leaving)
  }

  private fill(): void {
    while (!this.isClosed && this.taken < this.places && this.next < this.expected.length) {
      const layer = this.expected[this.next++]!
      this.taken++
      const loaded = this.work.load(layer)
      // `take` reports the failure; until then, the promise has no listener.
      loaded.catch(() => undefined)
      this.coming.push({ layer, loaded })
    }
    for (const resolve of this.wake.splice(0)) resolve()
  }

  private discard(loaded: Promise<T>): void {
    const gone = loaded
      .then(
        (value) => this.work.drop(value),
        () => undefined,
      )
      .then(() => {
        this.leaving.delete(gone)
        this.free()
      })
    this.leaving.add(gone)
  }
}

/** @throws errors of `promise`; the signal's reason as soon as it is aborted */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  let stop = (): void => undefined
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
