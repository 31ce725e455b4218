/** A layer on its way. */
interface Coming<T> {
  readonly layer: string
  readonly loaded: Promise<T>
}

/** How a lane brings a layer, and takes it back unused. */
export interface LaneWork<T> {
  load(layer: string): Promise<T>
  drop(loaded: T): void
}

/**
 * Brings layers ahead of their use, in the order in which they are expected, as many at a time as it has places. A place
 * is taken from when a layer's loading begins until `free`, so that a slow user is what stops it.
 */
export class Lane<T> {
  private readonly places: number
  private readonly work: LaneWork<T>
  private expected: readonly string[] = []
  /** Index into `expected` of the first that has not begun. */
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

  /** Users hold every place: nothing comes until one is freed. */
  get isHeld(): boolean {
    return this.coming.length === 0 && this.leaving.size === 0 && this.taken >= this.places
  }

  /**
   * Says what will be taken from now on. What is on its way in that order is kept; the rest is given up once it is there.
   */
  expect(layers: readonly string[]): void {
    const same = this.coming.findIndex(({ layer }, index) => layer !== layers[index])
    for (const { loaded } of this.coming.splice(same < 0 ? this.coming.length : same)) this.discard(loaded)
    this.expected = layers
    this.next = this.coming.length
    this.fill()
  }

  /**
   * The first of what is expected, once it is there. Its place is taken until `free`, which is called for it already
   * where loading it fails.
   * @throws what loading it threw; the signal's reason, after which it is still the first
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
    // Between its arrival and here it may have been given up: whoever did that has its place, and drops it.
    signal.throwIfAborted()
    if (this.coming[0] !== first) return this.take(signal)
    this.coming.shift()
    this.expected = this.expected.slice(1)
    this.next--
    if (loaded !== undefined) return loaded
    this.free()
    throw failure
  }

  /** One that was taken is not used any more. */
  free(): void {
    this.taken--
    this.fill()
  }

  /** Begins nothing more, and waits for what has begun. Whoever still takes does so with a signal that is aborted. */
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
      // Whoever takes it hears of its failure; until then, nobody listens.
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

/** @throws what `promise` throws; the signal's reason as soon as it is aborted */
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
